// Who is signed in. The token itself is never kept here: the server holds it in a cookie that scripts cannot read.
import type { Client as Socket } from "graphql-ws";
import { createContext, use } from "react";
import { ready, t } from "../words";
import type { Role, Scope } from "./rights";

/** Whoever the cookie belongs to. token: the id of the token that they signed in with; empty if it has none. */
export type Identity = { player: string; role: Role; scopes: readonly Scope[]; token: string };

/** unreachable: nobody answered, so it is not known whether somebody is signed in. */
export type SessionState =
  | { kind: "checking" }
  | { kind: "signedOut"; reason?: string }
  | { kind: "signedIn"; identity: Identity }
  | { kind: "unreachable"; reason: string };

// Remembers that this browser signed in, so that a first visit asks for the token at once instead of asking the
// server something that it can only refuse. Never the token.
const hint = "signed-in";

/** Asks the server who is signed in; without asking, nobody, if this browser has not signed in. */
export async function whoAmI(): Promise<SessionState> {
  if (!localStorage.getItem(hint)) return { kind: "signedOut" };
  return await whoIsNow();
}

/** Asks the server who is signed in, whatever this browser remembers. */
export async function whoIsNow(): Promise<SessionState> {
  const state = await attempt("GET");
  if (state.kind === "signedOut") localStorage.removeItem(hint);
  return state;
}

/** Signs in; the server answers with a cookie. */
export async function signIn(token: string): Promise<SessionState> {
  const state = await attempt("POST", { token });
  if (state.kind !== "signedIn") return state;
  localStorage.setItem(hint, "1");
  return await whoAmI();
}

/** A token that a link brought while somebody else is signed in: it is used only if they want it. */
export type Offer = { token: string; whose: Identity };

/** Who is signed in when the console is opened, or somebody follows a link to it. */
export type Arrival = { state: SessionState; offer: Offer | null };

/**
 * Signs in with the token that an address brought, if it brought one. Anybody can send such a link: it takes nobody out of
 * a session, unless both are of the same player.
 */
export async function arrive(token: string | null): Promise<Arrival> {
  const state = await whoAmI();
  if (!token || state.kind === "unreachable") return { state, offer: null };
  if (state.kind !== "signedIn") return { state: await signIn(token), offer: null };
  const found = await attempt("GET", { bearer: token });
  if (found.kind !== "signedIn") return { state, offer: null }; // it is nobody's, or nobody knows
  if (isSame(state.identity, found.identity)) return { state: await signIn(token), offer: null };
  return { state, offer: { token, whose: found.identity } };
}

/** Whether two are the same player in the same role. */
export const isSame = (a: Identity, b: Identity): boolean => a.player === b.player && a.role === b.role;

/** Signs out. */
export async function signOut(): Promise<SessionState> {
  localStorage.removeItem(hint);
  return await attempt("DELETE");
}

// This may be asked before the first words have come; without any, the page says that instead.
const words = () => ready().catch(() => undefined);

type With = { token?: string; bearer?: string }; // in the body, to sign in; or only for this request

async function attempt(method: "GET" | "POST" | "DELETE", { token, bearer }: With = {}): Promise<SessionState> {
  let response: Response;
  try {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (token !== undefined) headers["Content-Type"] = "application/json";
    if (bearer !== undefined) headers.Authorization = `Bearer ${bearer}`;
    const body = token === undefined ? null : JSON.stringify({ token });
    response = await fetch("/session", { method, headers, body, credentials: "same-origin", cache: "no-store" });
  } catch {
    await words();
    return { kind: "unreachable", reason: t("api.session.silent") };
  }
  if (!response.ok) await words();
  if (response.status === 401 || (method === "POST" && response.status === 403)) {
    return { kind: "signedOut", ...because(await message(response)) };
  }
  if (!response.ok) return { kind: "unreachable", reason: `${await message(response)} (HTTP ${response.status})` };
  if (method === "DELETE") return { kind: "signedOut" };
  if (method === "POST") return { kind: "signedIn", identity: { player: "", role: "client", scopes: [], token: "" } };
  return { kind: "signedIn", identity: (await response.json()) as Identity };
}

/** Why nobody is signed in. That a browser sends no cookie any more is no reason that tells people anything. */
export const because = (said: string): { reason?: string } => (said.startsWith("no token") ? {} : { reason: said });

// The server's own words for what went wrong: the body has the form of a GraphQL error.
async function message(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { errors?: { message?: string }[] };
    return body.errors?.[0]?.message ?? t("api.session.refused");
  } catch {
    return t("api.session.refused");
  }
}

/** Takes the token that the server's first address carries out of the address, if there is one. */
export function takeToken(location: Location, history: History): string | null {
  const match = /^#token=(.+)$/.exec(location.hash);
  if (!match?.[1]) return null;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return null; // no address of the server's ends so
  }
}

/** What pages need of the session. fetch: waits where the session has ended; see Comeback. */
export type SessionControl = { identity: Identity; socket: Socket; fetch: typeof fetch; leave: () => void };

/** Holds the session of whoever is signed in. */
export const SessionContext = createContext<SessionControl | null>(null);

/** The session; only below a signed-in shell. */
export function useSession(): SessionControl {
  const control = use(SessionContext);
  if (!control) throw new Error("no session above this component");
  return control;
}
