import type { Filled } from "./query";

/** How full a window was after an operation, which has a number: 1 was the first. */
export type Point = { n: number; id: string; kind: Filled["kind"]; at: string; tokens: number; usage: number };

/** The points of operations that are given latest first, the latest of which has the number total; oldest first. */
export function pointsOf(operations: readonly Filled[], total: number, capacity: number): Point[] {
  return operations
    .map(({ id, kind, at, tokensAfter }, i) => ({
      n: total - i,
      id,
      kind,
      at,
      tokens: tokensAfter,
      usage: tokensAfter / capacity,
    }))
    .reverse();
}
