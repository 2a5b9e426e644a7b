import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditSession, openTo } from "../app/places";
import { t } from "../words";
import { allScopes, lacks, mayErase, type Role, type Scope } from "./rights";

const own = "a".repeat(64);
const who = (role: Role, ...scopes: Scope[]) => ({ player: own, role, scopes, token: "" });

it("knows the scopes that the schema names, and no others", () => {
  const schema = readFileSync(new URL("../../../../graph/schema/token.graphqls", import.meta.url), "utf8");
  const [, named = ""] = /"Of (.*), only such as your own token has\./.exec(schema) ?? [];
  expect(named.match(/[a-z]+(:[a-z]+)?(?=`)/g)).toEqual(allScopes);
});

describe("lacks", () => {
  it.each([
    ["an administrator", who("admin", "verify"), { scope: "verify" as const, admin: true }, /^$/],
    ["a client with the scope", who("client", "verify"), { scope: "verify" as const }, /^$/],
    ["a client without it", who("client", "log:read"), { scope: "verify" as const }, /the scope verify/],
    ["an administrator without it", who("admin", "log:read"), { scope: "verify" as const }, /the scope verify/],
    ["a client", who("client", ...allScopes), { admin: true }, /for administrators; you are signed in as client/],
  ])("%s", (_, identity, needs, words) => expect(lacks(identity, needs)).toMatch(words));
});

it("lets people erase what they sent, and administrators everything, if the token has the scope", () => {
  const other = "b".repeat(64);
  expect(mayErase(who("client", "erase"), own)).toBe(true);
  expect(mayErase(who("client", "erase"), other)).toBe(false);
  expect(mayErase(who("admin", "erase"), other)).toBe(true);
  expect(mayErase(who("admin", "log:read"), own)).toBe(false);
});

it("leads to those pages alone that the token opens", () => {
  const words = (role: Role, ...scopes: Scope[]) => openTo(who(role, ...scopes)).map((p) => t(p.word));
  expect(words("hook", "events:ingest")).toEqual(["Playground"]);
  expect(words("client", "log:read", "verify")).toEqual([
    "Overview",
    "Threads",
    "Conversations",
    "Events",
    "Components",
    "Records",
    "Seal",
    "Playground",
    "Settings",
  ]);
  expect(words("client", "tokens:manage")).toEqual(["Playground", "Tokens"]);
});

it("names an administrator's audit session", () => {
  // printf %s "audit:$(printf a%.0s $(seq 64))" | sha256sum
  expect(auditSession(own)).toBe("44ab706ae283621dc3f50ad03c826ca84b13ca5a6f3eccc65468ba4446197331");
});
