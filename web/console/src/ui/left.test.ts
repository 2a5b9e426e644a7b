import { expect, it } from "vitest";
import { farthest, found } from "./left";

const keys = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `row ${from + i}`);
const left = (row: number) => ({ row, key: `row ${row}`, into: 0 });

it.each([
  ["where it stood", keys(100), 40, false, 40],
  ["further down, if there are newer ones", keys(100, -7), 40, false, 47],
  ["its place, if it now stands at the top", ["row 40", ...keys(40), ...keys(60, 41)], 40, true, 40],
  ["the last one, if there are fewer", keys(10), 40, true, 9],
  ["nothing yet, if what fills the view below it may come", keys(50), 40, false, null],
  ["where it stood, if nothing comes below it", keys(50), 40, true, 40],
  ["nothing yet, if it may come", keys(25), 40, false, null],
  ["nothing yet, if it may have been pushed down", keys(75, 50), 40, false, null],
  ["its place, if it is not among those after it", keys(90, 50), 40, false, 40],
  ["the last one, if it is too far down", keys(farthest), 5_000, false, farthest - 1],
])("a list goes on at %s", (_, here, row, whole, want) => {
  expect(found(here, left(row), whole)).toBe(want);
});
