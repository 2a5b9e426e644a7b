import type { ActionId } from "../actions/registry";
import { lacks, type Needs } from "../api/rights";
import type { Identity } from "../api/session";
import { sha256 } from "../chain/bytes";
import type { IconName } from "../ui/icons";
import type { Id } from "../words";

/** A page that the console leads to, and what it asks of whoever opens it. */
export type Place = Needs & {
  to: string;
  /** What leads there. */
  action: ActionId;
  icon: IconName;
  word: Id;
  /** A document of its own. */
  whole?: boolean;
  /** Stands with what is for running the log, not for reading it. */
  apart?: boolean;
};

/** Where one can go from every page. */
export const places: readonly Place[] = [
  { to: "/overview", action: "go.overview", icon: "overview", word: "app.place.overview", scope: "log:read" },
  { to: "/threads", action: "go.threads", icon: "threads", word: "app.place.threads", scope: "log:read" },
  {
    to: "/conversations",
    action: "go.conversations",
    icon: "conversations",
    word: "app.place.conversations",
    scope: "log:read",
  },
  { to: "/events", action: "go.events", icon: "events", word: "app.place.events", scope: "log:read" },
  { to: "/windows", action: "go.windows", icon: "windows", word: "app.place.windows", scope: "context:select" },
  { to: "/context", action: "go.context", icon: "context", word: "app.place.context", scope: "context:select" },
  {
    to: "/selections",
    action: "go.selections",
    icon: "selections",
    word: "app.place.selections",
    scope: "context:select",
  },
  { to: "/components", action: "go.components", icon: "components", word: "app.place.components", scope: "log:read" },
  { to: "/records", action: "go.records", icon: "records", word: "app.place.records", scope: "log:read" },
  { to: "/seal", action: "go.seal", icon: "sealed", word: "app.place.seal", scope: "verify" },
  // A document of its own: its editor needs a looser content policy than the rest of the console.
  { to: "/playground", action: "go.playground", icon: "playground", word: "app.place.playground", whole: true },
  { to: "/tokens", action: "go.tokens", icon: "key", word: "app.place.tokens", scope: "tokens:manage", apart: true },
  {
    to: "/quarantine",
    action: "go.quarantine",
    icon: "quarantine",
    word: "app.place.quarantine",
    scope: "log:read",
    admin: true,
    apart: true,
  },
  {
    to: "/settings",
    action: "go.settings",
    icon: "settings",
    word: "app.place.settings",
    scope: "log:read",
    apart: true,
  },
];

/** Those of the places that somebody may use. */
export const openTo = (who: Identity): readonly Place[] => places.filter((p) => !lacks(who, p));

/** Whether an address belongs to a place. Sessions and messages are read among the threads. */
export function isAt({ to }: Place, path: string): boolean {
  return path === to || path.startsWith(`${to}/`) || (to === "/threads" && /^\/(sessions|messages)\//.test(path));
}

/** The hash of the session that records what an administrator does: SHA-256 of `audit:` and their player's hash. */
export const auditSession = (player: string): string => sha256(new TextEncoder().encode(`audit:${player}`));
