import { expect, it } from "vitest";
import { type Bar, barsOf, mostBars } from "./buckets";

const bar = (start: string, total = 1): Bar => ({ start, total, sent: 0, received: 0, led: 0 });
const starts = (bars: Bar[]) => bars.map((b) => `${b.start.slice(0, 10)} ${b.total}`);

it.each([
  ["DAY", ["2026-02-27", "2026-03-02"], ["2026-02-27 1", "2026-02-28 0", "2026-03-01 0", "2026-03-02 1"]],
  ["WEEK", ["2025-12-22", "2026-01-05"], ["2025-12-22 1", "2025-12-29 0", "2026-01-05 1"]],
  ["MONTH", ["2025-11-01", "2026-02-01"], ["2025-11-01 1", "2025-12-01 0", "2026-01-01 0", "2026-02-01 1"]],
] as const)("fills in each %s in which nothing was", (bucket, given, want) => {
  const { bars, capped } = barsOf(
    given.map((d) => bar(`${d}T00:00:00Z`)),
    bucket,
  );
  expect([starts(bars), capped]).toEqual([want, false]);
});

it("keeps the latest, and tells that there are more", () => {
  const { bars, capped } = barsOf([bar("2001-01-01T00:00:00Z"), bar("2026-01-01T00:00:00Z", 7)], "DAY");
  expect([bars.length, bars.at(-1)?.total, bars[0]?.total, capped]).toEqual([mostBars, 7, 0, true]);
});

it("draws nothing of nothing", () => {
  expect(barsOf([], "DAY")).toEqual({ bars: [], capped: false });
});
