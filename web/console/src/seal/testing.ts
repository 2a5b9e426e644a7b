// Trees and proofs for tests, straight from the definitions of RFC 6962, section 2.1, and not from the checks.
import { concat, sha256Bytes, toBase64 } from "../chain/bytes";
import { type Leaf, leafBytes } from "./merkle";

/** A tree over all of its leaves at once. */
export class TestTree {
  private readonly known = new Map<string, Uint8Array>();

  constructor(private readonly leaves: readonly Leaf[]) {}

  /** The hash of the leaves from..to, to excluded. */
  private hash(from: number, to: number): Uint8Array {
    const name = `${from}-${to}`;
    let hash = this.known.get(name);
    if (!hash) {
      const leaf = this.leaves[from];
      if (!leaf) throw new Error(`no leaf ${from}`);
      hash =
        to - from === 1
          ? sha256Bytes(concat([new Uint8Array([0]), leafBytes(leaf)]))
          : sha256Bytes(
              concat([new Uint8Array([1]), this.hash(from, this.split(from, to)), this.hash(this.split(from, to), to)]),
            );
      this.known.set(name, hash);
    }
    return hash;
  }

  // The largest power of two below the number of leaves.
  private split(from: number, to: number): number {
    let k = 1;
    while (2 * k < to - from) k *= 2;
    return from + k;
  }

  /** The root of the first size leaves, in base64. */
  root(size: number): string {
    return toBase64(this.hash(0, size));
  }

  /** PATH(index, D[size]). */
  path(index: number, size: number, from = 0): Uint8Array[] {
    const to = from + size;
    if (size === 1) return [];
    const middle = this.split(from, to);
    return index < middle - from
      ? [...this.path(index, middle - from, from), this.hash(middle, to)]
      : [...this.path(index - (middle - from), to - middle, middle), this.hash(from, middle)];
  }

  /** PROOF(older, D[size]), in base64. */
  consistency(older: number, size: number): string[] {
    return this.subproof(older, 0, size, true).map(toBase64);
  }

  private subproof(m: number, from: number, to: number, whole: boolean): Uint8Array[] {
    if (m === to - from) return whole ? [] : [this.hash(from, to)];
    const middle = this.split(from, to);
    return m <= middle - from
      ? [...this.subproof(m, from, middle, whole), this.hash(middle, to)]
      : [...this.subproof(m - (middle - from), middle, to, false), this.hash(from, middle)];
  }

  /** What, with some of the first size leaves, makes their root: the full subtrees that hold none of them. */
  without(indexes: readonly number[], size: number, from = 0): Uint8Array[] {
    const to = from + size;
    const within = indexes.some((i) => i >= from && i < to);
    if (!within && Number.isInteger(Math.log2(size))) return [this.hash(from, to)];
    if (size === 1) return [];
    const middle = this.split(from, to);
    return [...this.without(indexes, middle - from, from), ...this.without(indexes, to - middle, middle)];
  }

  /** A tlog-proof of a leaf, with a note behind it. */
  proof(index: number, size: number, note: string): string {
    const hashes = this.path(index, size).map((h) => `${toBase64(h)}\n`);
    return `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes.join("")}\n${note}`;
  }
}
