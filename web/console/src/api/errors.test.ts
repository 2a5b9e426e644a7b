import { CombinedError } from "urql";
import { expect, it } from "vitest";
import { SaidError } from "../words";
import { describe as described, fieldError } from "./errors";

const of = (message: string) =>
  fieldError(new CombinedError({ graphQLErrors: [{ message, extensions: { code: "BAD_USER_INPUT" } }] }));

it.each([
  ["input.note: has 300 bytes", "note", "has 300 bytes"],
  ["input.scopes[1]: is none of a: b", "scopes", "is none of a: b"],
  ["components[0].name: is too long", "name", "is too long"],
  ["components[0].data.x: is wrong", "data", "is wrong"],
  ["id: is not the id of a token", "id", "is not the id of a token"],
  ["your token lacks the scope erase", "", "your token lacks the scope erase"],
  ["the session has ended: sign in again", "", "the session has ended: sign in again"],
])("fieldError(%s)", (message, field, detail) =>
  expect(of(message)).toEqual({ field, detail, code: "BAD_USER_INPUT" }),
);

it.each([
  ["the server's words", { graphQLErrors: [{ message: "is too long" }] }, "is too long", "en"],
  ["the browser's", { networkError: new TypeError("Failed to fetch") }, "Failed to fetch", "en"],
  [
    "the console's own",
    { networkError: new SaidError({ id: "api.connection" }) },
    "The connection to the server failed.",
    undefined,
  ],
])("describe tells the language of %s", (_, of, detail, lang) => {
  const told = described(new CombinedError(of));
  expect([told.detail, told.lang]).toEqual([detail, lang]);
});
