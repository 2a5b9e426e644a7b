import { describe, expect, it } from "vitest";
import { Strip, tallest } from "./strip";

const view = 800;
const estimate = 132;
const heightOf = (row: number) => 60 + ((row * 7919) % 240); // 60 to 299, and not what was estimated

// A strip with a box: what it draws is measured, as the page does after each step.
function boxOf(total: number) {
  const strip = new Strip(estimate);
  const settle = () => {
    for (let news = true; news; ) {
      news = false;
      const { from, to } = strip.drawn;
      for (let row = from; row < to; row++) if (strip.measured(row, heightOf(row))) news = true;
      strip.fit();
    }
  };
  const step = (act: () => void) => {
    act();
    settle();
    sound();
  };
  // Where each row in view is, in pixels from the top of the view.
  const seen = () => {
    const { from, to, top } = strip.drawn;
    const rows = new Map<number, number>();
    for (let row = from, at = top - strip.scroll; row < to; at += heightOf(row++))
      if (at < view && at + heightOf(row) > 0) rows.set(row, at);
    return rows;
  };
  // What always holds: the view is full, nothing is before the first row or after the last, no element is too tall.
  const sound = () => {
    const { from, to, top } = strip.drawn;
    expect(strip.scroll).toBeGreaterThanOrEqual(0);
    expect(strip.scroll).toBeLessThanOrEqual(strip.length - Math.min(view, strip.length) + 0.5);
    expect(strip.length).toBeLessThan(33_554_428);
    if (from === 0) expect(top).toBeCloseTo(0);
    else expect(top).toBeLessThanOrEqual(strip.scroll);
    const bottom = top + Array.from({ length: to - from }, (_, i) => heightOf(from + i)).reduce((a, b) => a + b, 0);
    if (to === total) expect(bottom).toBeLessThanOrEqual(strip.length + 0.5);
    if (total > 20) expect(bottom).toBeGreaterThanOrEqual(strip.scroll + view - 0.5);
    expect(to - from).toBeLessThan(40);
  };
  step(() => strip.resize(total, view));
  return { strip, step, seen, wheel: (by: number) => step(() => strip.scrolled(Math.max(0, strip.scroll + by))) };
}

describe("Strip", () => {
  it.each([1_000, 12_000, 100_000, 1_000_000])("of %i rows shows the first and the last exactly", (total) => {
    const { strip, step, seen } = boxOf(total);
    expect(seen().get(0)).toBe(0);
    step(() => strip.scrolled(strip.length - view));
    const last = seen().get(total - 1);
    expect(last).toBeCloseTo(view - heightOf(total - 1));
    expect(strip.atEnd).toBe(true);
    step(() => strip.scrolled(0));
    expect(seen().get(0)).toBe(0);
  });

  it.each([12_000, 1_000_000])("of %i rows moves what is in view by just what was scrolled", (total) => {
    const { strip, step, seen, wheel } = boxOf(total);
    step(() => strip.goTo(total / 2, "start"));
    for (const by of [100, 53, -97, 700, 700, -1_400, 250, -40]) {
      const before = seen();
      wheel(by);
      for (const [row, at] of seen()) if (before.has(row)) expect(at).toBeCloseTo((before.get(row) ?? 0) - by, 3);
    }
  });

  it.each([12_000, 1_000_000])("of %i rows is walked from the start down and back without a row left out", (total) => {
    const { strip, seen, wheel } = boxOf(total);
    let reached = Math.max(...seen().keys());
    for (let i = 0; i < 300; i++) {
      wheel(500);
      for (const row of seen().keys()) {
        expect(row).toBeLessThanOrEqual(reached + 1);
        reached = Math.max(reached, row);
      }
      if (i % 40 === 39) strip.rest();
    }
    expect(reached).toBeGreaterThan(500);
    for (let i = 0; i < 400; i++) {
      wheel(-500);
      if (i % 40 === 39) strip.rest();
    }
    expect(seen().get(0)).toBe(0);
  });

  it("is walked to the end from far above it", () => {
    const { strip, step, seen, wheel } = boxOf(1_000_000);
    step(() => strip.goTo(999_900, "start"));
    for (let i = 0; i < 80; i++) wheel(400);
    expect(seen().get(999_999)).toBeCloseTo(view - heightOf(999_999));
  });

  it("at rest brings the range back to its share and moves nothing in view", () => {
    const { strip, step, seen, wheel } = boxOf(1_000_000);
    step(() => strip.goTo(500_000, "start"));
    for (let i = 0; i < 60; i++) wheel(700);
    const before = [...seen()];
    const away = strip.scroll;
    expect(strip.rest()).toBe(true);
    expect(Math.abs(strip.scroll - away)).toBeGreaterThan(10_000);
    expect([...seen()].map(([row, at]) => [row, Math.round(at)])).toEqual(
      before.map(([row, at]) => [row, Math.round(at)]),
    );
    expect(strip.rest()).toBe(false);
  });

  it.each(["start", "middle", "end"] as const)("brings any row to the %s of the view", (align) => {
    for (const total of [30, 12_000, 1_000_000]) {
      const { strip, step, seen } = boxOf(total);
      for (const row of [0, 7, Math.floor(total / 3), total - 4, total - 1]) {
        step(() => strip.goTo(row, align));
        expect(seen().has(row), `${row} of ${total}`).toBe(true);
        const at = seen().get(row) ?? 0;
        expect(at).toBeGreaterThanOrEqual(-0.5);
        expect(at + heightOf(row)).toBeLessThanOrEqual(view + 0.5);
      }
    }
  });

  it("keeps a row where it was brought while the rows around it become known", () => {
    const { strip, step, seen } = boxOf(100_000);
    step(() => strip.goTo(70_000, "start"));
    expect(seen().get(70_000)).toBeCloseTo(0);
    step(() => strip.goTo(99_999, "end"));
    step(() => strip.resize(100_000, view));
    expect(strip.atEnd).toBe(true);
  });

  it("takes the same share of the rows as of the range when it jumps", () => {
    const { strip, step } = boxOf(1_000_000);
    for (const part of [0.1, 0.25, 0.5, 0.9]) {
      step(() => strip.scrolled(part * (strip.length - view)));
      expect(strip.first / 1_000_000).toBeCloseTo(part, 3);
    }
    expect(strip.length).toBeLessThanOrEqual(tallest + 2_000);
  });

  it("shows all of a list that is lower than the view, from the top", () => {
    const { strip, seen, step } = boxOf(3);
    expect([...seen().keys()]).toEqual([0, 1, 2]);
    expect(seen().get(0)).toBe(0);
    expect(strip.length).toBe(view);
    step(() => strip.resize(0, view));
    expect(strip.drawn).toEqual({ from: 0, to: 0, top: 0 });
  });
});
