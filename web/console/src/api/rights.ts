// What whoever is signed in may do, as far as the console shows it. The server decides: this only spares people what it
// would refuse.
import type { Identity } from "./session";

/** What a token makes of whoever has it. */
export type Role = "admin" | "agent" | "client" | "hook";

/** What a token may be used for. */
export type Scope =
  | "log:read"
  | "log:append"
  | "context:select"
  | "memory:write"
  | "events:ingest"
  | "verify"
  | "tokens:manage"
  | "erase";

/** Each scope, and what it is good for. */
export const scopes: Record<Scope, string> = {
  "log:read": "Read messages, threads, sessions, components and records.",
  "log:append": "Append messages, and record what was sent with a selection.",
  "context:select": "Ask for ranked context, and read what was selected.",
  "memory:write": "Describe components; administrators also add records and drop vectors.",
  "events:ingest": "Deliver events, and nothing else.",
  verify: "Check chains, the tree and proofs.",
  "tokens:manage": "Make and revoke tokens.",
  erase: "Erase contents for good, on the record.",
};

/** All scopes, in the server's order. */
export const allScopes = Object.keys(scopes) as Scope[];

/** Each role in words. */
export const roles: Record<Role, { word: string; sees: string }> = {
  admin: { word: "administrator", sees: "Sees every session. Reading those of others is on record." },
  agent: { word: "agent", sees: "Acts as its player, and sees the sessions that they take part in." },
  client: { word: "client", sees: "Acts as their player, and sees the sessions that they take part in." },
  hook: { word: "hook", sees: "Delivers events, and sees nothing." },
};

type Rights = Pick<Identity, "role" | "scopes" | "player">;

/** Whether somebody is an administrator. */
export const isAdmin = (who: Rights): boolean => who.role === "admin";

/** Whether somebody's token has a scope. */
export const has = (who: Rights, scope: Scope): boolean => who.scopes.includes(scope);

/** Whether somebody may erase a message of an owner. */
export const mayErase = (who: Rights, owner: string): boolean =>
  has(who, "erase") && (isAdmin(who) || who.player === owner);

/** What a page asks of whoever opens it. */
export type Needs = { scope?: Scope | undefined; admin?: boolean | undefined };

/** Why somebody may not use something, in words; empty if they may. */
export function lacks(who: Rights, needs: Needs): string {
  if (needs.admin && !isAdmin(who)) return `It is for administrators; you are signed in as ${roles[who.role].word}.`;
  if (needs.scope && !has(who, needs.scope))
    return `It needs a token with the scope ${needs.scope}, which yours lacks.`;
  return "";
}
