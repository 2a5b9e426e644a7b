import { describe, expect, it } from "vitest";
import { nameFor, readName, readTop, readWanted, topFor } from "./address";

const hash = "5e1f0c2d".repeat(8);

describe("a message in the address", () => {
  it("is its place from 1 and the beginning of its hash", () => {
    expect(nameFor(16, hash)).toBe("17.5e1f0c2d5e1f");
    expect(readName("17.5e1f0c2d5e1f")).toEqual({ kind: "place", place: 16, prefix: "5e1f0c2d5e1f" });
    expect(readName(hash)).toEqual({ kind: "hash", hash });
  });

  it.each([null, "", "17", "0.5e1f0c2d5e1f", "17.xyz", "-1.5e1f", "17.", hash.slice(1)])("is not %s", (text) => {
    expect(readName(text)).toBeNull();
  });
});

describe("the top of the view in the address", () => {
  it.each([
    [0, 0, null],
    [0, 30, "1.30"],
    [2_700, 0, "2701"],
    [2_700, 34, "2701.34"],
  ])("row %i, %i pixels in, is %s", (position, into, text) => {
    expect(topFor(position, into)).toBe(text);
    if (text !== null) expect(readTop(text)).toEqual({ position, into });
  });

  it.each([null, "", "0", "-3", "2.x", "end"])("is not %s", (text) => expect(readTop(text)).toBeNull());
});

describe("what somebody types to jump", () => {
  it.each([
    ["#120", { kind: "at", place: 119 }],
    [" 1 ", { kind: "at", place: 0 }],
    [hash.toUpperCase(), { kind: "hash", hash }],
    ["2026-03-01T14:00:00Z", { kind: "time", at: "2026-03-01T14:00:00.000Z" }],
    ["2026-03-01 14:00", { kind: "time", at: new Date("2026-03-01T14:00").toISOString() }],
    ["2026-03-01", { kind: "time", at: new Date("2026-03-01T00:00").toISOString() }],
    ["0", null],
    ["yesterday", null],
    ["2026-99-99", null],
  ])("%s", (typed, wanted) => expect(readWanted(typed)).toEqual(wanted));
});
