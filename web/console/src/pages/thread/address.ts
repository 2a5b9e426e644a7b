// What the address says of a message: its place and the beginning of its hash.

/** How many characters of a hash a link holds. */
export const prefixLength = 12;

/** What a link names: a message by its hash, or by its place, from 0, and how its hash begins. */
export type Named = { kind: "hash"; hash: string } | { kind: "place"; place: number; prefix: string };

/** Reads a message's name out of an address; null if it is none. */
export function readName(text: string | null): Named | null {
  if (text === null) return null;
  if (/^[0-9a-f]{64}$/.test(text)) return { kind: "hash", hash: text };
  const [, number, prefix] = /^([1-9]\d{0,8})\.([0-9a-f]{4,64})$/.exec(text) ?? [];
  if (!number || !prefix) return null;
  return { kind: "place", place: Number(number) - 1, prefix };
}

/** The name of a message by its place, from 0: "17.5e1f0c…", counted from 1 as people do. */
export const nameFor = (place: number, hash: string): string => `${place + 1}.${hash.slice(0, prefixLength)}`;

/** The top of the view in the address: its row, counted from 1, and how many pixels of it are above; null at the start. */
export function topFor(position: number, into: number): string | null {
  if (position === 0 && into === 0) return null;
  return into === 0 ? String(position + 1) : `${position + 1}.${into}`;
}

/** Reads the top of the view out of an address; null if it is none. */
export function readTop(text: string | null): { position: number; into: number } | null {
  const [, number, into] = /^([1-9]\d{0,8})(?:\.(\d{1,5}))?$/.exec(text ?? "") ?? [];
  return number ? { position: Number(number) - 1, into: Number(into ?? 0) } : null;
}

/** What somebody who wants to jump has typed: a place, from 0, a moment (RFC 3339), or a message's name. */
export type Wanted = { kind: "at"; place: number } | { kind: "time"; at: string } | Named;

/** Reads what somebody typed: "#120", "120", "2026-03-01 14:00", a whole hash, or a link's name. Null: none of these. */
export function readWanted(text: string): Wanted | null {
  const typed = text.trim().toLowerCase();
  const number = /^#?([1-9]\d{0,8})$/.exec(typed)?.[1];
  if (number) return { kind: "at", place: Number(number) - 1 };
  const name = readName(typed);
  if (name) return name;
  if (!/^\d{4}-\d\d/.test(typed)) return null;
  // A day alone is meant in the reader's time zone, as everything else that they read here.
  const moment = Date.parse(/^\d{4}-\d\d-\d\d$/.test(typed) ? `${typed}T00:00` : typed.replace(" ", "T").toUpperCase());
  return Number.isNaN(moment) ? null : { kind: "time", at: new Date(moment).toISOString() };
}
