import { expect, it } from "vitest";
import { toHex } from "./bytes";
import { CheckedHashes, runsOf } from "./hashes";
import { digits } from "./testing";

const of = (sequence: number, hash: string) => ({ sequence, hash });

it("messages whose numbers follow one another are one run, and what is no hash is in none", () => {
  const runs = runsOf([
    of(1, digits("a")),
    of(2, digits("b")),
    of(4, digits("c")),
    of(5, "c".repeat(63)),
    of(6, digits("d")),
  ]);
  expect(runs.map((r) => [r.first, toHex(r.hashes)])).toEqual([
    [1, digits("a") + digits("b")],
    [4, digits("c")],
    [6, digits("d")],
  ]);
  expect(runsOf([])).toEqual([]);
});

it("what was checked is found by its number, whatever the order, and nothing else is", () => {
  const checked = new CheckedHashes();
  for (const run of runsOf([of(4, digits("c")), of(5, digits("d")), of(1, digits("a"))])) checked.add(run);
  expect([0, 1, 2, 3, 4, 5, 6].map((n) => checked.at(n)?.[0] ?? null)).toEqual([null, "a", null, null, "c", "d", null]);
  expect(checked.at(4)).toBe(digits("c"));
});
