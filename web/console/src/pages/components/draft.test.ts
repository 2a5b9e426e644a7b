import { describe, expect, it } from "vitest";
import { begin, type Draft, inputOf, limits, problems } from "./draft";

const draft = (part: Partial<Draft> = {}): Draft => ({ ...begin(null), key: "k", ...part });

describe("problems", () => {
  it.each<[string, Partial<Draft>, string[]]>([
    ["nothing in what fits", {}, []],
    ["an empty key", { key: "" }, ["key"]],
    ["a key of too many bytes, not characters", { key: "é".repeat(129) }, ["key"]],
    ["a key that just fits", { key: "é".repeat(128) }, []],
    ["a name", { name: "n".repeat(limits.name + 1) }, ["name"]],
    ["what is no JSON", { data: "{a: 1}" }, ["data"]],
    ["too many preferences", { namespace: "PLY", preferences: "p\n".repeat(65) }, ["preferences"]],
    ["a preference that is too long", { namespace: "PLY", preferences: "p".repeat(257) }, ["preferences"]],
  ])("finds %s", (_, part, want) => expect(Object.keys(problems(draft(part)))).toEqual(want));
});

describe("inputOf", () => {
  it("leaves out what is empty of something new", () => {
    expect(inputOf(draft({ name: "N" }), null, null)).toEqual({ namespace: "HST", key: "k", name: "N" });
  });

  it("sends of what is there only what was changed, also what was emptied", () => {
    const before = draft({ namespace: "PLY", name: "N", description: "D", preferences: "a\nb", data: '{"x":1}' });
    const now = { ...before, description: "", preferences: "b\n\n c ", data: "" };
    expect(inputOf(now, before, null)).toEqual({
      namespace: "PLY",
      key: "k",
      description: "",
      preferences: ["b", "c"],
      data: {},
    });
  });

  it("never sends preferences of what has none", () => {
    expect(inputOf(draft({ preferences: "a" }), null, "h")).toEqual({ namespace: "HST", key: "k", hash: "h" });
  });
});
