// Proves many leaves of a tree at once: docs/chain.md, "A stretch".
import { fromHex } from "../chain/bytes";
import { Digest } from "../chain/digest";
import type { Head } from "./checkpoint";
import { strictBase64 } from "./note";

const label = new TextEncoder().encode("context-manager/leaf/v1\n");
const hashBytes = 32;
const nodeBytes = 1 + 2 * hashBytes;
const deepest = 54; // levels of a tree whose size a number can tell

/** The leaves of one session's messages, to be proved together. Each is told once, in the order of the tree. */
export class Together {
  private readonly digest = new Digest();
  private readonly leaf = new Uint8Array(1 + label.length + 2 * hashBytes + 8);
  private readonly leafView = new DataView(this.leaf.buffer);
  private readonly nodes = Array.from({ length: deepest }, () => {
    const bytes = new Uint8Array(nodeBytes);
    bytes[0] = 1;
    return { bytes, view: new DataView(bytes.buffer) };
  });
  private indexes = new Float64Array(2048); // a size goes beyond 32 bits
  private leaves = new DataView(new ArrayBuffer(2048 * hashBytes));
  private count = 0;
  private view: DataView = new DataView(new ArrayBuffer(0));
  private at = 0;
  private end = 0;

  /** Begins anew, with a session. */
  begin(session: string): void {
    this.count = 0;
    this.leaf.set(label, 1);
    this.leaf.set(fromHex(session), 1 + label.length);
  }

  /** How many leaves were told. */
  get told(): number {
    return this.count;
  }

  /** Tells a leaf: where it is said to be, and the message's sequence and hash, which has been computed. */
  tell(index: number, sequence: number, view: DataView, hashAt: number): void {
    const { leaf, leafView, digest } = this;
    const behind = 1 + label.length + hashBytes;
    leafView.setUint32(behind, Math.floor(sequence / 2 ** 32));
    leafView.setUint32(behind + 4, sequence);
    for (let i = 0; i < hashBytes; i += 4) leafView.setUint32(behind + 8 + i, view.getUint32(hashAt + i));
    this.room();
    digest.of(leaf, leafView, 0, leaf.length).write(this.leaves, this.count * hashBytes);
    this.indexes[this.count++] = index;
  }

  /**
   * Whether these hashes, n of them from at on, and the leaves that were told give the root of a tree: all of them, and no
   * leaf twice.
   */
  prove(head: Head, bytes: Uint8Array, at: number, n: number): boolean {
    const root = strictBase64(head.root);
    const { indexes, count } = this;
    if (count === 0) return n === 0;
    if (root?.length !== hashBytes || (indexes[count - 1] as number) >= head.size) return false;
    for (let i = 1; i < count; i++) if ((indexes[i] as number) <= (indexes[i - 1] as number)) return false;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
    this.end = at + n * hashBytes;
    const found = new DataView(new ArrayBuffer(hashBytes));
    const built = this.build(0, head.size, 0, count, found, 0, 0);
    const whole = built && this.at === this.end && new Uint8Array(found.buffer).every((b, i) => b === root[i]);
    return whole;
  }

  // Writes the hash of the leaves low..high, of which those that were told are first..behind. False if hashes are lacking.
  private build(
    low: number,
    high: number,
    first: number,
    behind: number,
    to: DataView,
    at: number,
    depth: number,
  ): boolean {
    const size = high - low;
    if (first === behind && isPower(size)) {
      if (this.at + hashBytes > this.end) return false;
      copy(this.view, this.at, to, at);
      this.at += hashBytes;
      return true;
    }
    if (size === 1) {
      copy(this.leaves, first * hashBytes, to, at);
      return true;
    }
    const node = this.nodes[depth];
    if (!node) return false;
    const middle = low + half(size);
    let split = first;
    if (behind - first === size) split = first + middle - low;
    else while (split < behind && (this.indexes[split] as number) < middle) split++;
    if (!this.build(low, middle, first, split, node.view, 1, depth + 1)) return false;
    if (!this.build(middle, high, split, behind, node.view, 1 + hashBytes, depth + 1)) return false;
    this.digest.of(node.bytes, node.view, 0, nodeBytes).write(to, at);
    return true;
  }

  private room(): void {
    if (this.count < this.indexes.length) return;
    const indexes = new Float64Array(2 * this.count);
    indexes.set(this.indexes);
    const leaves = new Uint8Array(2 * this.leaves.byteLength);
    leaves.set(new Uint8Array(this.leaves.buffer));
    this.indexes = indexes;
    this.leaves = new DataView(leaves.buffer);
  }
}

function copy(from: DataView, at: number, to: DataView, into: number): void {
  for (let i = 0; i < hashBytes; i += 4) to.setUint32(into + i, from.getUint32(at + i));
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
