import { describe, expect, it } from "vitest";
import { numberOf, payloadOf } from "./payload";

describe("payloadOf", () => {
  it("gives plain values, those of an error first, and says if there is more", () => {
    const payload = {
      node: "HTTP",
      retries: 3,
      error_code: "E_TIMEOUT",
      gone: null,
      error_message: "late",
      run: { id: 7 },
    };
    expect(payloadOf(payload)).toEqual({
      plain: [
        { name: "error_code", value: "E_TIMEOUT" },
        { name: "error_message", value: "late" },
        { name: "node", value: "HTTP" },
        { name: "retries", value: "3" },
        { name: "gone", value: "null" },
      ],
      more: true,
    });
  });
  it.each<[string, unknown, boolean]>([
    ["nothing", null, false],
    ["an empty object", {}, false],
    ["a list", [1], true],
    ["an empty list", [], false],
    ["a text", "odd", true],
  ])("takes %s", (_, payload, more) => expect(payloadOf(payload)).toEqual({ plain: [], more }));
});

it.each([
  ["5", 5],
  ["200", 200],
  ["0", 20],
  ["201", 20],
  ["1.5", 20],
  ["", 20],
  [null, 20],
])("numberOf(%s)", (text, want) => expect(numberOf(text, 20, 1, 200)).toBe(want));
