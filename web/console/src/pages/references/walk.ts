import type { Place } from "./layout";
import type { Edge } from "./network";

const ways = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
} as const;

/** An arrow key. */
export type Arrow = keyof typeof ways;

/** Whether a key is an arrow. */
export const isArrow = (key: string): key is Arrow => key in ways;

/**
 * Where an arrow leads from a node: to what it is linked with in that direction, the nearest first, or else to
 * whatever is nearest there; null if nothing is.
 */
export function walk(
  from: string,
  arrow: Arrow,
  places: ReadonlyMap<string, Place>,
  edges: readonly Edge[],
): string | null {
  const linked = new Set(edges.flatMap((e) => (e.from === from ? [e.to] : e.to === from ? [e.from] : [])));
  return nearest(from, arrow, places, (hash) => linked.has(hash)) ?? nearest(from, arrow, places, () => true);
}

function nearest(
  from: string,
  arrow: Arrow,
  places: ReadonlyMap<string, Place>,
  may: (hash: string) => boolean,
): string | null {
  const at = places.get(from);
  if (!at) return null;
  let best: { hash: string; far: number } | null = null;
  for (const [hash, p] of places) {
    if (hash === from || !may(hash)) continue;
    const along = (p.x - at.x) * ways[arrow].x + (p.y - at.y) * ways[arrow].y;
    const across = Math.abs((p.x - at.x) * ways[arrow].y) + Math.abs((p.y - at.y) * ways[arrow].x);
    if (along <= 0 || across > along) continue; // a quarter of the way round belongs to each arrow
    const far = along + across;
    if (!best || far < best.far) best = { hash, far };
  }
  return best?.hash ?? null;
}
