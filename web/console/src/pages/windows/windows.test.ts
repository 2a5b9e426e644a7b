import { describe, expect, it } from "vitest";
import { begin, type Draft, inputOf, limits, problems } from "./draft";
import { sinceOf } from "./period";

const draft = (part: Partial<Draft>): Draft => ({ ...begin(), name: "desk", ...part });

describe("a window to make", () => {
  it.each<[string, Partial<Draft>, string[]]>([
    ["begins fit to be made, but for its name", {}, []],
    ["no name", { name: "" }, ["name"]],
    ["a name of too many bytes", { name: "ñ".repeat(limits.name / 2 + 1) }, ["name"]],
    ["a name of just as many", { name: "ñ".repeat(limits.name / 2) }, []],
    ["a task of too many bytes", { task: "x".repeat(limits.task + 1) }, ["task"]],
    ["no capacity", { capacity: "" }, ["capacity"]],
    ["too small", { capacity: "15" }, ["capacity"]],
    ["the smallest", { capacity: "16" }, []],
    ["the largest", { capacity: "2000000" }, []],
    ["too large", { capacity: "2000001" }, ["capacity"]],
    ["half a token", { capacity: "16.5" }, ["capacity"]],
  ])("%s", (_, part, want) => expect(Object.keys(problems(draft(part)))).toEqual(want));

  it("asks for what was given, and for nothing that was left empty", () => {
    expect(inputOf(draft({}))).toEqual({ name: "desk", capacity: 8192, encoding: "o200k_base" });
    const agent = "a".repeat(64);
    expect(inputOf(draft({ agent, task: "book a room", capacity: "100", encoding: "cl100k_base" }))).toEqual({
      name: "desk",
      capacity: 100,
      encoding: "cl100k_base",
      agent,
      task: "book a room",
    });
  });
});

it("figures count from a day or a week ago, to the minute, or ever", () => {
  const now = Date.parse("2026-03-10T12:00:59.999Z");
  expect(sinceOf("day", now)).toBe("2026-03-09T12:00:00.000Z");
  expect(sinceOf("week", now)).toBe("2026-03-03T12:00:00.000Z");
  expect(sinceOf("ever", now)).toBeNull();
});
