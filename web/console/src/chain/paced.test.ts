import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { paced } from "./paced";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("paced reports", () => {
  it("tell the first at once, and of those that come soon after it the last", () => {
    const told: number[] = [];
    const reports = paced((n: number) => told.push(n), 200);
    for (let n = 1; n <= 5; n++) reports.tell(n);
    expect(told).toEqual([1]);
    vi.advanceTimersByTime(199);
    expect(told).toEqual([1]);
    vi.advanceTimersByTime(1);
    expect(told).toEqual([1, 5]);
    reports.tell(6);
    expect(told).toEqual([1, 5]);
    vi.advanceTimersByTime(200);
    expect(told).toEqual([1, 5, 6]);
    vi.advanceTimersByTime(1_000);
    reports.tell(7);
    expect(told).toEqual([1, 5, 6, 7]);
  });

  it("tell what waits when they are asked to, once", () => {
    const told: number[] = [];
    const reports = paced((n: number) => told.push(n), 200);
    reports.tell(1);
    reports.tell(2);
    reports.flush();
    expect(told).toEqual([1, 2]);
    reports.flush();
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual([1, 2]);
  });

  it("tell what waits when they are to end, and nothing after it", () => {
    const told: number[] = [];
    const reports = paced((n: number) => told.push(n), 200);
    reports.tell(1);
    reports.tell(2);
    reports.finish();
    expect(told).toEqual([1, 2]);
    reports.tell(3);
    reports.flush();
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual([1, 2]);
  });

  it("tell nothing once they were stopped, not even what waits", () => {
    const told: number[] = [];
    const reports = paced((n: number) => told.push(n), 200);
    reports.tell(1);
    reports.tell(2);
    reports.stop();
    reports.flush();
    reports.tell(3);
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual([1]);
  });
});
