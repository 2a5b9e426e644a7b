import { CombinedError } from "urql";
import { expect, it } from "vitest";
import { fieldError } from "./errors";

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
