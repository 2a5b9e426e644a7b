// SHA-256 of many parts of one buffer, by @noble/hashes' own rounds, without making an object of each. Who hashes four
// times a message spends as much on those objects as on short inputs themselves.
import { _SHA256 } from "@noble/hashes/sha2.js";

const block = 64;

/** Hashes parts of buffers, one after the other, and holds the last digest. */
export class Digest extends _SHA256 {
  private readonly tail = new Uint8Array(2 * block);
  private readonly tailView = new DataView(this.tail.buffer);
  private readonly start = this.get();

  /** Takes the digest of n bytes from at on. view is of the same bytes. */
  of(bytes: Uint8Array, view: DataView, at: number, n: number): this {
    this.set(...this.start);
    const end = at + n;
    let from = at;
    for (; from + block <= end; from += block) this.process(view, from);
    const { tail, tailView } = this;
    const left = end - from;
    for (let i = 0; i < left; i++) tail[i] = bytes[from + i] as number;
    const size = left < block - 8 ? block : 2 * block;
    tail[left] = 0x80;
    tail.fill(0, left + 1, size - 8);
    tailView.setUint32(size - 8, Math.floor(n / 0x20000000)); // the length in bits
    tailView.setUint32(size - 4, n << 3);
    this.process(tailView, 0);
    if (size > block) this.process(tailView, block);
    return this;
  }

  /** Writes the digest's 32 bytes. */
  write(to: DataView, at: number): void {
    to.setUint32(at, this.A);
    to.setUint32(at + 4, this.B);
    to.setUint32(at + 8, this.C);
    to.setUint32(at + 12, this.D);
    to.setUint32(at + 16, this.E);
    to.setUint32(at + 20, this.F);
    to.setUint32(at + 24, this.G);
    to.setUint32(at + 28, this.H);
  }

  /** Whether these 32 bytes are the digest. */
  is(view: DataView, at: number): boolean {
    return (
      view.getInt32(at) === this.A &&
      view.getInt32(at + 4) === this.B &&
      view.getInt32(at + 8) === this.C &&
      view.getInt32(at + 12) === this.D &&
      view.getInt32(at + 16) === this.E &&
      view.getInt32(at + 20) === this.F &&
      view.getInt32(at + 24) === this.G &&
      view.getInt32(at + 28) === this.H
    );
  }
}
