import { describe, expect, it } from "vitest";
import { above, countLines, lineOf, linesOf, matchesOf, windowOf } from "./lines";

const value = {
  model: "small",
  files: [
    { name: "a/b.txt", size: 3 },
    { name: "plan.md", size: null },
  ],
  "odd/key~": { deep: [true, "Hotel in Lisbon"] },
};
const all = () => true;

describe("the lines of a JSON value", () => {
  it("come in order, each with its place, and stop where something is closed", () => {
    const shown = [...linesOf(value, (_, depth) => depth < 2)].map((l) => [l.path, l.depth, l.kind, l.text, l.size]);
    expect(shown).toEqual([
      ["", 0, "object", "", 3],
      ["/model", 1, "string", "small", null],
      ["/files", 1, "array", "", 2],
      ["/files/0", 2, "object", "", 2],
      ["/files/1", 2, "object", "", 2],
      ["/odd~1key~0", 1, "object", "", 1],
      ["/odd~1key~0/deep", 2, "array", "", 2],
    ]);
  });

  it("are found by key and by text, whatever the case, and a path names what must be open", () => {
    expect(matchesOf(value, "LISBON", 10)).toEqual(["/odd~1key~0/deep/1"]);
    expect(matchesOf(value, "name", 10)).toEqual(["/files/0/name", "/files/1/name"]);
    expect(matchesOf(value, "name", 1)).toEqual(["/files/0/name"]);
    expect(matchesOf(value, "", 10)).toEqual([]);
    expect(above("/files/0/name")).toEqual(["", "/files", "/files/0"]);
  });

  it("of a large value are cut to a window, with what is before and after", () => {
    const large = Array.from({ length: 50_000 }, (_, i) => ({ i }));
    const w = windowOf(large, all, 40_000, 200);
    expect([w.lines.length, w.before, w.after]).toEqual([200, 40_000, 100_001 - 40_200]);
    expect(countLines(large, 1_000)).toBe(1_000);
    expect(lineOf(large, all, "/25000/i")).toBe(50_002);
    expect(lineOf(large, (_, depth) => depth < 1, "/25000/i")).toBe(-1);
  });
});
