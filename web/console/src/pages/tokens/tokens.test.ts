import { describe, expect, it } from "vitest";
import { allScopes, type Role, type Scope } from "../../api/rights";
import { begin, curl, endsSoon, firstQuery, inputOf, kindsFor, limits, problems, usualScopes } from "./draft";

const own = "a".repeat(64);
const who = (role: Role, ...scopes: Scope[]) => ({ player: own, role, scopes, token: "" });
const admin = who("admin", ...allScopes);
const now = Date.parse("2026-03-10T12:00:00Z");

describe("a draft", () => {
  it("begins with what is usual for its kind, as far as one's own token has it", () => {
    expect(begin("CLIENT", admin)).toEqual({
      kind: "CLIENT",
      player: null,
      scopes: ["log:read", "log:append", "context:select", "verify"],
      days: "30",
      note: "",
    });
    expect(usualScopes("AGENT", who("client", "verify", "erase"))).toEqual(["verify"]);
    expect(begin("AGENT", who("agent", "verify")).player).toBe(own);
  });

  it("keeps the player and the note when another kind is chosen", () => {
    const before = { ...begin("AGENT", admin), player: own, note: "for the heating" };
    expect(begin("HOOK", admin, before)).toMatchObject({
      kind: "HOOK",
      player: own,
      note: "for the heating",
      days: "90",
    });
  });

  it("of an administrator is for administrators to make", () => {
    expect(kindsFor(admin)).toContain("ADMIN");
    expect(kindsFor(who("client", ...allScopes))).toEqual(["AGENT", "CLIENT", "HOOK"]);
  });

  it.each([
    ["nothing", {}, []],
    ["no player", { player: null }, ["player"]],
    ["no scope", { scopes: [] }, ["scopes"]],
    ["no days", { days: "" }, ["expiresAt"]],
    ["half a day", { days: "0.5" }, ["expiresAt"]],
    ["too many days", { days: String(limits.days + 1) }, ["expiresAt"]],
    ["the most days", { days: String(limits.days) }, []],
    ["the longest note", { note: "é".repeat(limits.noteBytes / 2) }, []],
    ["a note that is too long", { note: "é".repeat(limits.noteBytes / 2 + 1) }, ["note"]],
  ])("with %s is told so", (_, change, fields) => {
    expect(Object.keys(problems({ ...begin("AGENT", admin), player: own, ...change }))).toEqual(fields);
  });

  it("leaves the usual end to the database's clock, and names another one", () => {
    const draft = { ...begin("AGENT", admin), player: own };
    expect(inputOf(draft, now).expiresAt).toBeNull();
    expect(inputOf({ ...draft, days: "7" }, now).expiresAt).toBe("2026-03-17T12:00:00.000Z");
  });
});

describe("endsSoon", () => {
  const ends = (createdAt: string, expiresAt: string, state: "ACTIVE" | "EXPIRED" | "REVOKED" = "ACTIVE") =>
    endsSoon({ createdAt, expiresAt, state }, now);
  it("warns in the last week, or in the last fifth of a shorter life", () => {
    expect(ends("2026-01-01T00:00:00Z", "2026-03-17T11:59:00Z")).toBe(true);
    expect(ends("2026-01-01T00:00:00Z", "2026-03-17T12:01:00Z")).toBe(false);
    expect(ends("2026-03-09T12:00:00Z", "2026-03-12T12:00:00Z")).toBe(false);
    expect(ends("2026-03-10T03:00:00Z", "2026-03-10T13:00:00Z")).toBe(true);
  });
  it("says nothing of what has ended", () => {
    expect(ends("2026-01-01T00:00:00Z", "2026-03-09T12:00:00Z", "EXPIRED")).toBe(false);
    expect(ends("2026-01-01T00:00:00Z", "2026-03-11T12:00:00Z", "REVOKED")).toBe(false);
  });
});

describe("curl", () => {
  it("asks what the token may ask", () => {
    expect(firstQuery(["verify", "log:read"])).toContain("threads");
    expect(firstQuery(["verify"])).toContain("seal");
    expect(firstQuery(["context:select"])).toContain("requestContext");
    expect(firstQuery(["tokens:manage"])).toContain("tokens");
    expect(firstQuery(["events:ingest"])).toBe("{ __typename }");
  });
  it("is a command of four lines that a shell takes as one", () => {
    const lines = curl("https://log.test", "cmagt_x", ["context:select"]).split("\n");
    expect(lines).toHaveLength(4);
    expect(lines.slice(0, 3).every((line) => line.endsWith(" \\"))).toBe(true);
    expect(lines[3]).toBe(`  -d '{"query":"mutation { requestContext(input: { query: \\"hello\\" }) { rendered } }"}'`);
  });
});
