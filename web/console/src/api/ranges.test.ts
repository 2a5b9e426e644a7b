import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { type Chunk, Ranges } from "./ranges";

type Asked = { from: number; count: number; signal: AbortSignal; answer: () => void; fail: (e: Error) => void };

// A log of numbers: row n is n. Answers wait until the test gives them.
function log(length: number, most = 200) {
  const state = { length, open: [] as Asked[], all: 0 };
  const fetch = (from: number, count: number, signal: AbortSignal) =>
    new Promise<Chunk<number>>((resolve, reject) => {
      state.all++;
      const rows = () =>
        Array.from({ length: Math.max(0, Math.min(count, most, state.length - from)) }, (_, i) => from + i);
      const done = (then: () => void) => () => {
        state.open = state.open.filter((a) => a !== asked);
        then();
      };
      const answer = done(() => resolve({ from, totalCount: state.length, rows: rows() }));
      const asked: Asked = { from, count, signal, answer, fail: (e) => done(() => reject(e))() };
      state.open.push(asked);
    });
  return { state, fetch };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

async function answerAll(state: { open: Asked[] }) {
  while (state.open.length > 0) {
    for (const asked of [...state.open]) asked.answer();
    await turn();
  }
}

describe("Ranges", () => {
  it("leaves nothing at the signal of who waits for a row", async () => {
    const { state, fetch } = log(100_000);
    const ranges = new Ranges(fetch);
    const controller = new AbortController();
    const got = ranges.wait(7, controller.signal);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    await answerAll(state);
    expect(await got).toBe(7);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    const never = ranges.wait(90_000, controller.signal);
    controller.abort();
    expect(await never).toBeNull();
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("fetches what is in view and one block around it, and knows the total", async () => {
    const { state, fetch } = log(100_000);
    const ranges = new Ranges(fetch);
    ranges.view(0, 10);
    expect(state.open.map((a) => a.from)).toEqual([0]);
    await answerAll(state);
    expect(ranges.total).toBe(100_000);
    expect([ranges.row(0), ranges.row(99), ranges.row(100)]).toEqual([0, 99, undefined]);
    ranges.view(50_020, 50_030);
    expect(state.open.map((a) => a.from)).toEqual([50_000, 50_050, 49_950]);
    await answerAll(state);
    expect(ranges.row(50_025)).toBe(50_025);
  });

  it("has few requests in flight, and cancels those that were scrolled past", async () => {
    const { state, fetch } = log(100_000);
    const ranges = new Ranges(fetch, { atOnce: 2 });
    ranges.view(0, 10);
    await answerAll(state);
    ranges.view(10_000, 10_200);
    expect(state.open.length).toBe(2);
    const passed = [...state.open];
    ranges.view(90_000, 90_010);
    expect(passed.map((a) => a.signal.aborted)).toEqual([true, true]);
    for (const asked of passed) asked.answer();
    await answerAll(state);
    expect(ranges.row(10_000)).toBeUndefined();
    expect(ranges.row(90_005)).toBe(90_005);
  });

  it("never holds more than its limit, however far one scrolls", async () => {
    const { state, fetch } = log(1_000_000);
    const ranges = new Ranges(fetch, { kept: 6 });
    for (let at = 0; at < 1_000_000; at += 9_973) {
      ranges.view(at, at + 20);
      await answerAll(state);
      expect(ranges.row(at)).toBe(at);
      expect(ranges.held).toBeLessThanOrEqual(6 * 50);
    }
  });

  it("keeps an error to its block until it is retried", async () => {
    const { state, fetch } = log(1_000);
    const ranges = new Ranges(fetch);
    ranges.view(0, 10);
    await answerAll(state);
    ranges.view(500, 510);
    state.open.find((a) => a.from === 500)?.fail(new Error("no"));
    await turn();
    await answerAll(state);
    expect(ranges.errorAt(505)?.message).toContain("no");
    expect(ranges.errorAt(555)).toBeNull();
    expect(ranges.total).toBe(1_000);
    const before = state.all;
    ranges.view(501, 511);
    expect(state.all).toBe(before);
    ranges.retry(505);
    await answerAll(state);
    expect([ranges.errorAt(505), ranges.row(505)]).toEqual([null, 505]);
  });

  it("grows at the end without asking for what it has", async () => {
    const { state, fetch } = log(120);
    const ranges = new Ranges(fetch);
    ranges.view(100, 120);
    await answerAll(state);
    state.length = 160;
    const grown = ranges.grow(new AbortController().signal);
    expect(state.open.map((a) => a.from)).toEqual([120]);
    await answerAll(state);
    expect(await grown).toBe(160);
    expect([ranges.row(119), ranges.row(120), ranges.row(149), ranges.row(159)]).toEqual([119, 120, 149, 159]);
  });

  it("asks for everything anew when a row came in before the end, and shows none twice", async () => {
    const rows = Array.from({ length: 60 }, (_, i) => i);
    const fetch = (from: number, count: number) =>
      Promise.resolve({ from, totalCount: rows.length, rows: rows.slice(from, from + count) });
    const ranges = new Ranges(fetch, {}, (row) => row);
    const shown = () => Array.from({ length: ranges.total ?? 0 }, (_, i) => ranges.row(i));
    ranges.view(0, 60);
    await vi.waitFor(() => expect(shown()).toEqual(rows));
    rows.push(60);
    await ranges.grow(new AbortController().signal);
    expect(shown()).toEqual(rows); // at the end: nothing else was asked for
    rows.splice(20, 0, 1_000);
    await ranges.grow(new AbortController().signal);
    await vi.waitFor(() => expect(shown()).toEqual(rows));
  });

  it("asks anew for blocks that do not fit together", async () => {
    let rows = Array.from({ length: 200 }, (_, i) => i);
    const fetch = (from: number, count: number) =>
      Promise.resolve({ from, totalCount: rows.length, rows: rows.slice(from, from + count) });
    const ranges = new Ranges(fetch, { ahead: 0 }, (row) => row);
    ranges.view(0, 10);
    await vi.waitFor(() => expect(ranges.row(0)).toBe(0));
    rows = [0, 0.5, ...rows.slice(1)]; // nobody told
    ranges.view(45, 60);
    await vi.waitFor(() => expect([ranges.row(1), ranges.row(50)]).toEqual([0.5, 49]));
  });

  it("asks again for what an answer left out, and gives up where nothing comes", async () => {
    const { state, fetch } = log(50, 20);
    const ranges = new Ranges(fetch);
    ranges.view(0, 10);
    await answerAll(state);
    expect([ranges.row(49), state.all]).toEqual([49, 3]);
    const none = log(50, 0);
    const empty = new Ranges(none.fetch);
    empty.view(0, 10);
    await answerAll(none.state);
    expect(empty.errorAt(0)?.message).toContain("no rows");
  });

  it("shows what it has while it reads it anew, and drops what is no longer there", async () => {
    const { state, fetch } = log(120);
    const ranges = new Ranges(fetch);
    ranges.view(60, 120);
    await answerAll(state);
    state.length = 90;
    ranges.reload();
    expect(ranges.row(110)).toBe(110);
    await answerAll(state);
    expect([ranges.total, ranges.row(89), ranges.row(90), ranges.row(110)]).toEqual([90, 89, undefined, undefined]);
  });

  it("changes rows at once, wherever they are, and asks for what is in view once more", async () => {
    const { state, fetch } = log(500);
    const ranges = new Ranges(fetch);
    ranges.amend((row) => -row); // there is none to change, and none to ask for
    expect(state.all).toBe(0);
    ranges.view(0, 10);
    await answerAll(state);
    ranges.view(400, 410);
    await answerAll(state);
    ranges.amend((row) => (row === 7 || row === 405 ? -row : row));
    expect([ranges.row(7), ranges.row(405), ranges.row(8)]).toEqual([-7, -405, 8]);
    expect(state.open.map((a) => a.from)).toContain(400);
    await answerAll(state);
    expect([ranges.row(7), ranges.row(405)]).toEqual([-7, 405]);
  });

  it("of an empty list knows that it is empty", async () => {
    const { state, fetch } = log(0);
    const ranges = new Ranges(fetch);
    ranges.view(0, 10);
    await answerAll(state);
    expect([ranges.total, state.all]).toEqual([0, 1]);
  });
});
