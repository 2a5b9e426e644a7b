// Proves many leaves of a tree at once: docs/chain.md, "A stretch".
import type { Batch } from "../chain/batch";
import type { Head } from "./checkpoint";
import { strictBase64 } from "./note";

const label = new TextEncoder().encode("\0context-manager/leaf/v1\n");
const hashBytes = 32;
const leafBytes = label.length + hashBytes + 8 + hashBytes;
const nodeBytes = 1 + 2 * hashBytes;
const deepest = 54; // levels of a tree whose size a number can tell

/** The leaves of one session's messages, to be proved together. Each is told once, in the order of the tree. */
export class Together {
  private indexes = new Float64Array(0); // a size goes beyond 32 bits
  private leaves = 0;
  private count = 0;
  private at = 0;
  private end = 0;
  private nodes = 0;
  private nodesEnd = 0;
  // Of each level where nodes are, and where their hashes go, by turns: those below come first.
  private readonly levels: number[][] = Array.from({ length: deepest }, () => []);

  /** All that is told, and what comes of it, stands in this memory. */
  constructor(private readonly batch: Batch) {}

  /** Begins anew, with a session, of which so many leaves can be told. */
  begin(session: Uint8Array, most: number): void {
    this.count = 0;
    if (this.indexes.length < most) this.indexes = new Float64Array(most);
    this.leaves = this.batch.take(most * leafBytes);
    this.batch.bytes.set(label, this.leaves);
    this.batch.bytes.set(session, this.leaves + label.length);
  }

  /** How many leaves were told. */
  get told(): number {
    return this.count;
  }

  /** Tells a leaf: where it is said to be, its sequence, and where the message's hash stands. */
  tell(index: number, sequence: number, hash: number): void {
    const { bytes, view } = this.batch;
    const leaf = this.leaves + this.count * leafBytes;
    const behind = label.length + hashBytes;
    if (this.count > 0) bytes.copyWithin(leaf, this.leaves, this.leaves + behind);
    view.setUint32(leaf + behind, Math.floor(sequence / 2 ** 32));
    view.setUint32(leaf + behind + 4, sequence);
    copy(view, hash, leaf + behind + 8);
    this.indexes[this.count++] = index;
  }

  /**
   * Whether these hashes, n of them from at on, and the leaves that were told give the root of a tree: all of them, and no
   * leaf twice.
   */
  prove(head: Head, at: number, n: number): boolean {
    const { batch, indexes, count } = this;
    const root = strictBase64(head.root);
    if (count === 0) return n === 0;
    if (root?.length !== hashBytes || (indexes[count - 1] as number) >= head.size) return false;
    for (let i = 1; i < count; i++) if ((indexes[i] as number) <= (indexes[i - 1] as number)) return false;
    this.at = at;
    this.end = at + n * hashBytes;
    const found = batch.take(hashBytes);
    this.nodes = batch.take((count + n) * nodeBytes);
    this.nodesEnd = this.nodes + (count + n) * nodeBytes;
    for (const level of this.levels) level.length = 0;
    if (!this.build(0, head.size, 0, count, found, 0) || this.at !== this.end) return false;
    batch.flush();
    for (const level of this.levels.toReversed()) {
      for (let i = 0; i < level.length; i += 2) batch.add(level[i] as number, nodeBytes, level[i + 1] as number);
      batch.flush();
    }
    return root.every((b, i) => b === batch.bytes[found + i]);
  }

  // Sees to the hash of the leaves low..high, of which those that were told are first..behind. False if hashes are lacking.
  private build(low: number, high: number, first: number, behind: number, to: number, depth: number): boolean {
    const size = high - low;
    if (first === behind && isPower(size)) {
      if (this.at + hashBytes > this.end) return false;
      copy(this.batch.view, this.at, to);
      this.at += hashBytes;
      return true;
    }
    if (size === 1) {
      this.batch.add(this.leaves + first * leafBytes, leafBytes, to);
      return true;
    }
    const level = this.levels[depth];
    const node = this.nodes;
    if (!level || node === this.nodesEnd) return false;
    this.nodes += nodeBytes;
    this.batch.bytes[node] = 1;
    level.push(node, to);
    const middle = low + half(size);
    let split = first;
    if (behind - first === size) split = first + middle - low;
    else while (split < behind && (this.indexes[split] as number) < middle) split++;
    return (
      this.build(low, middle, first, split, node + 1, depth + 1) &&
      this.build(middle, high, split, behind, node + 1 + hashBytes, depth + 1)
    );
  }
}

/** Copies a hash within a memory. */
export function copy(view: DataView, from: number, to: number): void {
  for (let i = 0; i < hashBytes; i += 4) view.setInt32(to + i, view.getInt32(from + i));
}

// The largest power of two below n, which is more than one.
function half(n: number): number {
  let k = 1;
  while (2 * k < n) k *= 2;
  return k;
}

function isPower(n: number): boolean {
  let k = 1;
  while (k < n) k *= 2;
  return k === n;
}
