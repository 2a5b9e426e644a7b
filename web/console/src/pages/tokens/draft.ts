import { allScopes, has, isAdmin, type Scope } from "../../api/rights";
import type { Identity } from "../../api/session";
import { t } from "../../words";
import type { TokenInput, TokenRow } from "./query";

/** What a token makes of whoever has it, as the API names it. */
export type Kind = TokenRow["kind"];

/** The limits of a token, as the schema states them. */
export const limits = { days: 366, noteBytes: 256 };

/** Each kind: what its tokens begin with, its usual scopes, and how many days it lives unless made with another end. */
export const kinds: Record<Kind, { prefix: string; scopes: readonly Scope[]; days: number }> = {
  AGENT: {
    prefix: "cmagt_",
    scopes: ["log:read", "log:append", "context:select", "memory:write", "verify"],
    days: 90,
  },
  CLIENT: {
    prefix: "cmcli_",
    scopes: ["log:read", "log:append", "context:select", "verify"],
    days: 30,
  },
  HOOK: {
    prefix: "cmhook_",
    scopes: ["events:ingest"],
    days: 90,
  },
  ADMIN: {
    prefix: "cmadm_",
    scopes: allScopes,
    days: 30,
  },
};

/** What a kind is called. */
export const kindWord = (kind: Kind): string => t(`tokens.kind.${kind}`);

/** A token as the form has it. */
export type Draft = { kind: Kind; player: string | null; scopes: readonly Scope[]; days: string; note: string };

/** The kinds that somebody may make. */
export const kindsFor = (who: Identity): Kind[] =>
  (Object.keys(kinds) as Kind[]).filter((k) => k !== "ADMIN" || isAdmin(who));

/** The usual scopes of a kind, as far as somebody's own token has them: nobody gives what they lack. */
export const usualScopes = (kind: Kind, who: Identity): Scope[] => kinds[kind].scopes.filter((s) => has(who, s));

/** The form as it is first, or after another kind was chosen. */
export function begin(kind: Kind, who: Identity, before?: Draft): Draft {
  const own = isAdmin(who) ? null : who.player;
  const days = String(kinds[kind].days);
  return { note: "", player: own, ...before, kind, scopes: usualScopes(kind, who), days };
}

/** What is wrong with a draft that can be told without the server, by the names of the input's fields. */
export function problems(d: Draft): Partial<Record<"player" | "scopes" | "expiresAt" | "note", string>> {
  const days = Number(d.days);
  const bytes = new TextEncoder().encode(d.note).length;
  return {
    ...(d.player === null && { player: t("tokens.wrong.player") }),
    ...(d.scopes.length === 0 && { scopes: t("tokens.wrong.scopes") }),
    ...(!(Number.isInteger(days) && days >= 1 && days <= limits.days) && {
      expiresAt: t("tokens.wrong.days", { most: limits.days }),
    }),
    ...(bytes > limits.noteBytes && { note: t("tokens.wrong.note", { n: bytes, most: limits.noteBytes }) }),
  };
}

const day = 86_400_000; // milliseconds

/** When a token of so many days ends if it is made now, in milliseconds since 1970. */
export const endOf = (days: number, now: number): number => now + days * day;

/** What the server is asked. The usual life of a kind is left to the database's clock. */
export function inputOf(d: Draft, now: number): TokenInput {
  const days = Number(d.days);
  const expiresAt = days === kinds[d.kind].days ? null : new Date(endOf(days, now)).toISOString();
  return {
    kind: d.kind,
    player: d.player,
    scopes: allScopes.filter((s) => d.scopes.includes(s)),
    note: d.note,
    expiresAt,
  };
}

const week = 7 * day;

/** Whether a token that may be used ends soon: within a week, or within a fifth of its life if that is less. */
export function endsSoon(t: Pick<TokenRow, "state" | "createdAt" | "expiresAt">, now: number): boolean {
  const end = Date.parse(t.expiresAt);
  return t.state === "ACTIVE" && end - now < Math.min(week, (end - Date.parse(t.createdAt)) / 5);
}

/** What a token with these scopes can ask first, to see that it works. */
export function firstQuery(scopes: readonly string[]): string {
  if (scopes.includes("log:read")) return "{ threads(first: 3) { edges { node { hash messageCount } } } }";
  if (scopes.includes("verify")) return "{ seal { condition origin } }";
  if (scopes.includes("tokens:manage")) return "{ tokens(first: 3) { edges { node { id note } } } }";
  if (scopes.includes("context:select")) return 'mutation { requestContext(input: { query: "hello" }) { rendered } }';
  return "{ __typename }";
}

/** A command that asks the server at an origin with a token. Runs in any POSIX shell. */
export function curl(origin: string, secret: string, scopes: readonly string[]): string {
  return [
    `curl ${origin}/graphql`,
    `-H 'Authorization: Bearer ${secret}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ query: firstQuery(scopes) })}'`,
  ].join(" \\\n  ");
}
