// Proofs over the Merkle tree of RFC 6962 with SHA-256, as RFC 9162 writes their checks (sections 2.1.3.2, 2.1.4.2):
// the hash of a leaf is SHA-256(00 ‖ leaf), that of an inner node SHA-256(01 ‖ left ‖ right).
import { concat, fromHex, sameBytes, sha256Bytes, toBase64 } from "../chain/bytes";
import type { Head } from "./checkpoint";
import { SealError, strictBase64 } from "./note";

/** How many hashes a proof can have, for any tree. */
export const maxPath = 63;

const label = new TextEncoder().encode("context-manager/leaf/v1\n");

/** What the tree holds of a message: label ‖ session, 32 bytes ‖ sequence, 8 bytes big-endian ‖ hash, 32 bytes. */
export type Leaf = { session: string; sequence: number; hash: string };

/** A leaf's 96 bytes. */
export function leafBytes({ session, sequence, hash }: Leaf): Uint8Array {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(sequence));
  return concat([label, fromHex(session), number, fromHex(hash)]);
}

/** A leaf's hash in the tree. */
export const leafHash = (leaf: Uint8Array): Uint8Array => sha256Bytes(concat([new Uint8Array([0]), leaf]));

const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  sha256Bytes(concat([new Uint8Array([1]), left, right]));

const odd = (n: number) => n % 2 === 1;
const half = (n: number) => Math.floor(n / 2); // sizes go beyond 32 bits, so no shifts

type Step = { index: number; last: number; hash: Uint8Array; next: Uint8Array };

/**
 * What the last proof of a tree that held went through. Where another one comes to the same node, or to the one beside
 * it, and goes on by the same path, it leads to the same root: neighbours share all but a few of their hashes.
 */
export class Climbed {
  private head: Head | null = null;
  private steps: Step[] = []; // by how many hashes of the path were left
  private lines: { text: string; hash: Uint8Array }[] = []; // of the last path, from its end

  /** As readPath; a line that the path before has at the same place from its end gives the same array. */
  read(hashes: readonly string[]): Uint8Array[] {
    if (hashes.length > maxPath) throw new SealError({ id: "chain.path.long" });
    const before = this.lines;
    this.lines = hashes.toReversed().map((text, i) => {
      const known = before[i];
      return known?.text === text ? known : { text, hash: readHash(text) };
    });
    return this.lines.map((line) => line.hash).reverse();
  }

  /** Whether it is known that the path, from its at-th hash on, leads from this place to the root. */
  leads(index: number, last: number, hash: Uint8Array, path: readonly Uint8Array[], at: number, head: Head): boolean {
    if (this.head?.root !== head.root || this.head.size !== head.size) return false;
    const known = this.steps[path.length - at];
    const next = path[at];
    if (!known || !next || known.last !== last) return false;
    const same = known.index === index && known.next === next && sameBytes(known.hash, hash);
    const beside = odd(index) ? known.index === index - 1 : known.index === index + 1;
    if (!same && !(beside && sameBytes(known.next, hash) && sameBytes(known.hash, next))) return false;
    for (let i = at + 1; i < path.length; i++) if (this.steps[path.length - i]?.next !== path[i]) return false;
    return true;
  }

  /** Tells the first steps of a proof that holds; the rest are those that are known. */
  climbed(steps: readonly Step[], path: readonly Uint8Array[], head: Head): void {
    this.head = head;
    this.steps.length = Math.min(this.steps.length, path.length + 1); // none of a longer path
    for (const [i, step] of steps.entries()) this.steps[path.length - i] = step;
  }
}

/**
 * Checks that a leaf is the index-th of a tree. Throws SealError, with what was computed, unless the path says so. With
 * before, steps that are known need not be taken again.
 */
export function checkInclusion(
  leaf: Leaf,
  index: number,
  path: readonly Uint8Array[],
  head: Head,
  before?: Climbed,
): void {
  if (index >= head.size) throw new SealError({ id: "chain.path.place", values: { index, size: head.size } });
  let hash = leafHash(leafBytes(leaf));
  let last = head.size - 1;
  const steps: Step[] = [];
  for (const [i, p] of path.entries()) {
    const known = before?.leads(index, last, hash, path, i, head);
    steps.push({ index, last, hash, next: p });
    if (known) {
      before?.climbed(steps, path, head);
      return;
    }
    if (last === 0) throw new SealError({ id: "chain.path.many" });
    if (odd(index) || index === last) {
      hash = nodeHash(p, hash);
      while (!odd(index) && index !== 0) [index, last] = [half(index), half(last)];
    } else {
      hash = nodeHash(hash, p);
    }
    [index, last] = [half(index), half(last)];
  }
  if (last !== 0) throw new SealError({ id: "chain.path.few" });
  if (toBase64(hash) !== head.root) throw new RootError(toBase64(hash), head.root);
  before?.climbed(steps, path, head);
}

/** A proof that leads to another root than the checkpoint's. Both are in base64. */
export class RootError extends SealError {
  constructor(
    readonly computed: string,
    readonly stated: string,
  ) {
    super({ id: "chain.path.root" });
  }
}

/** Checks that the newer tree extends the older. Hashes are in base64. Throws SealError unless they show it. */
export function checkConsistency(older: Head, newer: Head, hashes: readonly string[]): void {
  if (older.size > newer.size)
    throw new SealError({ id: "chain.path.shorter", values: { newer: newer.size, older: older.size } });
  if (older.size === newer.size && older.root !== newer.root) {
    throw new SealError({ id: "chain.path.two", values: { n: older.size } });
  }
  if (older.size === newer.size || older.size === 0) {
    if (hashes.length > 0) throw new SealError({ id: "chain.path.needless" });
    return;
  }
  const path = readPath(hashes);
  let [first, last] = [older.size - 1, newer.size - 1];
  while (odd(first)) [first, last] = [half(first), half(last)];
  // A tree that is a whole subtree of the newer one is where the path begins, and is left out of it.
  const start = first === 0 ? strictBase64(older.root) : path.shift();
  if (!start) throw new SealError({ id: "chain.path.few" });
  let [before, after] = [start, start];
  for (const p of path) {
    if (last === 0) throw new SealError({ id: "chain.path.many" });
    if (odd(first) || first === last) {
      before = nodeHash(p, before);
      after = nodeHash(p, after);
      while (!odd(first) && first !== 0) [first, last] = [half(first), half(last)];
    } else {
      after = nodeHash(after, p);
    }
    [first, last] = [half(first), half(last)];
  }
  if (last !== 0) throw new SealError({ id: "chain.path.few" });
  if (toBase64(before) !== older.root) throw new SealError({ id: "chain.path.older" });
  if (toBase64(after) !== newer.root) throw new SealError({ id: "chain.path.newer" });
}

/** The hashes of a path, from base64. Throws SealError unless each is one. */
export function readPath(hashes: readonly string[]): Uint8Array[] {
  if (hashes.length > maxPath) throw new SealError({ id: "chain.path.long" });
  return hashes.map(readHash);
}

function readHash(text: string): Uint8Array {
  const hash = strictBase64(text);
  if (hash?.length !== 32) throw new SealError({ id: "chain.path.line" });
  return hash;
}
