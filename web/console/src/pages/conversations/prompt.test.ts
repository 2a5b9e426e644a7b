import { describe, expect, it } from "vitest";
import { clockOf, type Draft, partsOf, requestOf, secondsTo } from "./prompt";

const draft: Draft = {
  input: "¿y en azul?",
  rolePrompt: "You sell shoes.",
  rules: "",
  budget: "",
  context: false,
  query: "",
  threshold: "0.7",
};

describe("requestOf", () => {
  it("leaves out what is empty", () => {
    expect(requestOf("client:42:x", draft)).toEqual({
      conversation: "client:42:x",
      input: "¿y en azul?",
      rolePrompt: "You sell shoes.",
      rules: null,
      context: null,
      tokenBudget: null,
    });
  });
  it("selects context for the user's message, or for what is asked", () => {
    const asked = { ...draft, context: true, budget: "900", rules: "Be brief.", threshold: "0" };
    expect(requestOf("c", asked)).toMatchObject({
      context: { query: "¿y en azul?", threshold: 0 },
      tokenBudget: 900,
      rules: "Be brief.",
    });
    expect(requestOf("c", { ...asked, query: "colours" })).toMatchObject({ context: { query: "colours" } });
  });
});

describe("partsOf", () => {
  const turns = ["user", "assistant", "user", "assistant"];
  it.each<[string, string[], boolean, string]>([
    ["the least", ["system", "system", "user"], false, "role state input"],
    ["rules", ["system", "system", "system", "user"], true, "role rules state input"],
    ["context", ["system", "system", "system", "user"], false, "role state context input"],
    [
      "all",
      ["system", "system", "system", "system", ...turns, "user"],
      true,
      "role rules state context history history history history input",
    ],
  ])("%s", (_, roles, rules, want) => expect(partsOf(roles, rules).join(" ")).toBe(want));
});

it.each([
  [0, "0:00"],
  [9, "0:09"],
  [61, "1:01"],
  [1800, "30:00"],
  [3600, "1:00:00"],
  [86_399, "23:59:59"],
])("clockOf(%i)", (seconds, want) => expect(clockOf(seconds)).toBe(want));

it("counts to a moment, and no further", () => {
  const now = Date.parse("2026-03-10T12:00:00Z");
  expect(secondsTo("2026-03-10T12:00:01.001Z", now)).toBe(2);
  expect(secondsTo("2026-03-10T12:00:00Z", now)).toBe(0);
  expect(secondsTo("2026-03-10T11:00:00Z", now)).toBe(0);
});
