import type { Dropped, Selected, Source } from "./query";

/** What two results are compared by. */
export type Result = { items: readonly Selected[]; dropped: readonly Dropped[]; rendered: string };

/** Where something stands in a result: position if it is an item, reason if it was left out, neither if out of reach. */
export type Standing = { position: number | null; score: number | null; reason: Dropped["reason"] | null };

/** What differs of one message or record. */
export type Change = {
  hash: string;
  kind: "came" | "left" | "moved" | "rescored";
  source: Source | undefined;
  before: Standing;
  after: Standing;
};

/** How a second result differs from a first. identical: in items, scores, what was left out, and the block. */
export type Difference = {
  changes: Change[];
  /** Items of both, at the same place with the same score. */
  same: number;
  /** Of what both left out, how many have another score or reason. */
  aside: number;
  identical: boolean;
};

const kinds = ["came", "left", "moved", "rescored"] as const;
const nowhere: Standing = { position: null, score: null, reason: null };

/** Compares two results: what came in by its new place, what left by its old one, then what moved and what has another score. */
export function difference(before: Result, after: Result): Difference {
  const was = standings(before);
  const is = standings(after);
  const changes: Change[] = [];
  let same = 0;
  const items = new Map([...before.items, ...after.items].map((i) => [i.hash, i.source]));
  for (const [hash, source] of items) {
    const a = was.get(hash) ?? nowhere;
    const b = is.get(hash) ?? nowhere;
    const kind = kindOf(a, b);
    if (kind === null) same++;
    else changes.push({ hash, kind, source, before: a, after: b });
  }
  changes.sort((x, y) => kinds.indexOf(x.kind) - kinds.indexOf(y.kind) || place(x) - place(y));
  const left = (hash: string) => !items.has(hash);
  const aside = [...new Set([...was.keys(), ...is.keys()])].filter(left).filter((hash) => {
    const [a, b] = [was.get(hash) ?? nowhere, is.get(hash) ?? nowhere];
    return a.score !== b.score || a.reason !== b.reason;
  }).length;
  const identical = changes.length === 0 && aside === 0 && before.rendered === after.rendered;
  return { changes, same, aside, identical };
}

function standings({ items, dropped }: Result): Map<string, Standing> {
  const all = new Map<string, Standing>();
  for (const { hash, score, reason } of dropped) all.set(hash, { position: null, score, reason });
  for (const { hash, score, position } of items) all.set(hash, { position, score, reason: null });
  return all;
}

function kindOf(before: Standing, after: Standing): Change["kind"] | null {
  if (before.position === null) return "came";
  if (after.position === null) return "left";
  if (before.position !== after.position) return "moved";
  return before.score === after.score ? null : "rescored";
}

const place = ({ kind, before, after }: Change): number => (kind === "left" ? before.position : after.position) ?? 0;
