import { describe, expect, it } from "vitest";
import type { Page } from "../../api/pages";
import { type Cell, csvOf, jsonOf } from "./cells";
import { collect, most } from "./collect";
import { sorted } from "./sort";

const columns = [{ id: "x", head: "X, of it", value: (row: { x: Cell }) => row.x }];
const cell = (x: Cell) => csvOf(columns, [{ x }]).split("\r\n").slice(1, -1).join("\r\n");

describe("csvOf", () => {
  it.each<[string, Cell, string]>([
    ["text", "plain", "plain"],
    ["a comma", "a,b", '"a,b"'],
    ["quotes", 'say "a"', '"say ""a"""'],
    ["lines", "a\r\nb\nc", '"a\r\nb\nc"'],
    ["a formula", "=1+1", "'=1+1"],
    ["a formula with commas and quotes", '=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ["a plus", "+34 600", "'+34 600"],
    ["a minus in text", "-2+3", "'-2+3"],
    ["an at", "@SUM(A1)", "'@SUM(A1)"],
    ["a tab", "\t=1", "'\t=1"],
    ["a carriage return", "\r=1", `"'\r=1"`],
    ["a negative number", -5, "-5"],
    ["nothing", null, ""],
    ["a truth", true, "true"],
  ])("writes %s", (_, value, want) => expect(cell(value)).toBe(want));

  it("names the columns first, and ends each line", () => {
    expect(csvOf(columns, [{ x: 1 }])).toBe('"X, of it"\r\n1\r\n');
    expect(csvOf(columns, [])).toBe('"X, of it"\r\n');
  });
});

describe("jsonOf", () => {
  it("keeps values as they are", () => {
    expect(JSON.parse(jsonOf(columns, [{ x: "=1" }, { x: 2 }, { x: null }]))).toEqual([
      { x: "=1" },
      { x: 2 },
      { x: null },
    ]);
  });
});

// Pages of ten numbers up to a count; notes each cursor asked for.
function numbers(count: number, asked: (string | null)[] = []) {
  return async (after: string | null): Promise<Page<number>> => {
    asked.push(after);
    const from = Number(after ?? 0);
    const items = Array.from({ length: Math.min(10, count - from) }, (_, i) => from + i);
    return { items, endCursor: String(from + items.length), hasNextPage: from + 10 < count, totalCount: count };
  };
}

describe("collect", () => {
  it("takes every page, and tells of each", async () => {
    const told: [number, number | null][] = [];
    const { rows, capped } = await collect(numbers(25), { onProgress: (n, of) => told.push([n, of]) });
    expect(rows).toEqual(Array.from({ length: 25 }, (_, i) => i));
    expect([capped, told]).toEqual([
      false,
      [
        [10, 25],
        [20, 25],
        [25, 25],
      ],
    ]);
  });

  it("stops at the cap, and says so", async () => {
    const { rows, capped } = await collect(numbers(most + 5));
    expect([rows.length, capped]).toEqual([most, true]);
    expect((await collect(numbers(most))).capped).toBe(false);
  });

  it("stops when it is cancelled, and asks no more", async () => {
    const asked: (string | null)[] = [];
    const control = new AbortController();
    const taken = collect(numbers(100, asked), {
      signal: control.signal,
      onProgress: (n) => n >= 20 && control.abort(),
    });
    await expect(taken).rejects.toThrow();
    expect(asked).toEqual([null, "10"]);
  });
});

describe("sorted", () => {
  const rows = [{ x: "b" }, { x: null }, { x: "á" }, { x: "a10" }, { x: "a9" }];
  const column = { id: "x", head: "X", value: (row: { x: Cell }) => row.x };
  it("orders as people do, nothing last in both directions", () => {
    expect(sorted(rows, column, "ascending").map((r) => r.x)).toEqual(["á", "a9", "a10", "b", null]);
    expect(sorted(rows, column, "descending").map((r) => r.x)).toEqual(["b", "a10", "a9", "á", null]);
  });
  it("orders numbers by size", () => {
    const numbers = [{ x: 10 }, { x: -2 }, { x: 9 }];
    expect(sorted(numbers, column, "ascending").map((r) => r.x)).toEqual([-2, 9, 10]);
  });
});
