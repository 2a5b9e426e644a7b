import { describe, expect, it } from "vitest";
import { amount, firstOf, Numbers, within } from "./numbers";

const of = (...runs: [number, number][]) => {
  const numbers = new Numbers();
  for (const [from, to] of runs) numbers.add(from, to);
  return numbers;
};

describe("numbers", () => {
  it("of one run are two, however many they are", () => {
    const numbers = new Numbers();
    for (let n = 1; n <= 100_000; n++) numbers.add(n);
    expect(numbers.runs).toEqual([1, 100_000]);
    expect(amount(numbers.runs)).toBe(100_000);
  });

  it.each([
    ["apart", [5, 6], [1, 2, 5, 6, 10, 12]],
    ["behind one", [3, 4], [1, 4, 10, 12]],
    ["before one", [8, 9], [1, 2, 8, 12]],
    ["between two", [3, 9], [1, 12]],
    ["over both", [0, 20], [0, 20]],
    ["in one", [11, 11], [1, 2, 10, 12]],
    ["over the end of one", [12, 14], [1, 2, 10, 14]],
    ["behind all", [20, 20], [1, 2, 10, 12, 20, 20]],
    ["before all", [-3, -2], [-3, -2, 1, 2, 10, 12]],
  ])("that are added %s join what they touch", (_, [from, to], runs) => {
    const numbers = of([1, 2], [10, 12]);
    numbers.add(from as number, to);
    expect(numbers.runs).toEqual(runs);
  });

  it("are what a set of them is, whatever is added and taken", () => {
    const [numbers, set] = [new Numbers(), new Set<number>()];
    let seed = 1;
    const below = (n: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % n;
    };
    for (let i = 0; i < 2_000; i++) {
      const [from, length] = [below(60), below(4)];
      if (below(3) === 0) expect(numbers.delete(from)).toBe(set.delete(from));
      else {
        numbers.add(from, from + length);
        for (let n = from; n <= from + length; n++) set.add(n);
      }
      const all = [...set].sort((a, b) => a - b);
      expect(firstOf(numbers.runs, 100, 100)).toEqual(all);
      expect(amount(numbers.runs)).toBe(set.size);
      const n = below(66);
      expect(numbers.has(n)).toBe(set.has(n));
      expect(within(numbers.runs, n)).toBe(set.has(n));
    }
  });

  it("are told up to one of them, and so many", () => {
    const { runs } = of([1, 3], [7, 9]);
    expect(firstOf(runs, 8, 10)).toEqual([1, 2, 3, 7, 8]);
    expect(firstOf(runs, 8, 4)).toEqual([1, 2, 3, 7]);
    expect(firstOf(runs, 0, 4)).toEqual([]);
  });
});
