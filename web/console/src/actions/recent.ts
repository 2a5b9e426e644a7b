// What whoever is signed in used of the palette, and which messages, sessions and threads they opened: in this tab only.
import { type ActionId, actionIds } from "./registry";

const key = "recent";
const most = 6;

/** Something used a moment ago: an action, or the address of a subject. */
export type Recent = { action: ActionId; of: string | null } | { to: string };

/** The latest first. */
export function recent(player: string): Recent[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(`${key}:${player}`) ?? "[]") as unknown;
    return Array.isArray(kept) ? kept.filter(isRecent) : [];
  } catch {
    return [];
  }
}

/** Remembers something as the latest; an address only if it is of a subject. */
export function remember(player: string, what: Recent): void {
  if (!isRecent(what)) return;
  const same = JSON.stringify(what);
  const rest = recent(player).filter((r) => JSON.stringify(r) !== same);
  sessionStorage.setItem(`${key}:${player}`, JSON.stringify([what, ...rest].slice(0, most)));
}

function isRecent(value: unknown): value is Recent {
  if (typeof value !== "object" || value === null) return false;
  if ("to" in value)
    return typeof value.to === "string" && /^\/(threads|sessions|messages)\/[0-9a-f]{64}$/.test(value.to);
  if (!("action" in value && "of" in value)) return false;
  return actionIds.includes(value.action as ActionId) && (value.of === null || typeof value.of === "string");
}
