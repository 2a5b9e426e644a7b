import { threadKey } from "./filter";

/** A named filter of the list: it is an address. query: as threadKey gives it. */
export type View = { name: string; query: string };

/** The views that a browser keeps. lost: something was kept that is no view, or was written by another version. */
export type Kept = { views: readonly View[]; lost: boolean };

/** How many views there may be, and of how many characters a name. */
export const limits = { views: 50, name: 60 };

const version = 1;

/** Where a player's views are kept in this browser. */
export const viewsKey = (player: string): string => `threads.views:${player}`;

/** Reads what was kept, believing nothing of it: what is no view is left out, and of a name only the first is taken. */
export function readViews(text: string | null): Kept {
  if (text === null) return { views: [], lost: false };
  const kept = parsed(text);
  if (!isRecord(kept) || kept.version !== version || !Array.isArray(kept.views)) return { views: [], lost: true };
  const views: View[] = [];
  for (const view of kept.views.slice(0, limits.views) as unknown[]) {
    const read = viewOf(view);
    if (read && !views.some((v) => v.name === read.name)) views.push(read);
  }
  return { views, lost: views.length < kept.views.length };
}

/** Views as they are kept. */
export const writeViews = (views: readonly View[]): string => JSON.stringify({ version, views });

/** Views with one more, or with another filter of that name. */
export const withView = (views: readonly View[], view: View): View[] =>
  views.some((v) => v.name === view.name) ? views.map((v) => (v.name === view.name ? view : v)) : [...views, view];

/** A name as it is kept; null if it is none, or too long. */
export function nameIn(typed: string): string | null {
  const name = typed.trim().replace(/\s+/g, " ");
  return name !== "" && name.length <= limits.name ? name : null;
}

function viewOf(view: unknown): View | null {
  if (!isRecord(view) || typeof view.name !== "string" || typeof view.query !== "string") return null;
  const name = nameIn(view.name);
  return name === null ? null : { name, query: threadKey(new URLSearchParams(view.query)) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
