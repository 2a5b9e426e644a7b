// What whoever is signed in may do, as far as the console shows it. The server decides: this only spares people what it
// would refuse.

import { t } from "../words";
import type { Identity } from "./session";

/** What a token makes of whoever has it. */
export type Role = "admin" | "agent" | "client" | "hook";

/** All scopes, in the server's order. */
export const allScopes = [
  "log:read",
  "log:append",
  "context:select",
  "memory:write",
  "events:ingest",
  "verify",
  "tokens:manage",
  "erase",
] as const;

/** What a token may be used for. */
export type Scope = (typeof allScopes)[number];

/** What a scope is good for. */
export const scopeWords = (scope: Scope): string => t(`api.scope.${scope}`);

/** What a role is called. */
export const roleWord = (role: Role): string => t(`api.role.${role}`);

/** What somebody in a role sees. */
export const seesWords = (role: Role): string => t(`api.sees.${role}`);

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
  if (needs.admin && !isAdmin(who)) return t("api.lacks.admin", { role: roleWord(who.role) });
  if (needs.scope && !has(who, needs.scope)) return t("api.lacks.scope", { scope: needs.scope });
  return "";
}
