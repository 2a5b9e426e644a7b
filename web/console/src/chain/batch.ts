// SHA-256 of many parts of one memory: four at a time where the browser can, else one after the other. The digests stand in
// the same memory, so that nothing is made of them but bytes.
import { Digest } from "./digest";
import { compiled, type FourDigests, free } from "./lanes";

const digestBytes = 32;
const block = 64;
const page = 1 << 16; // of a WebAssembly memory
const endBytes = 2 * block; // at most: what is left of a message behind its whole blocks, with the padding
const longest = 1 << 15; // what is longer hardly ever has three others of as many blocks
const keys = (2 * longest) / block;
const entry = 3; // where a part begins, how long it is, where its digest goes

/** What takes four digests at a time, and the memory that it takes them in. */
export type Lanes = { memory: WebAssembly.Memory; digests: FourDigests };

/** Digests of what stands in a memory. Without lanes, the library takes them one by one. */
export class Batch {
  /** The memory: another object after take. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  view = new DataView(this.bytes.buffer);

  private taken = 0;
  private readonly digest = new Digest();
  private readonly waiting = new Int32Array(keys * 4 * entry); // by how many blocks they are, and how these end
  private readonly counts = new Uint8Array(keys);
  private behind = 0; // all that wait have keys below it

  constructor(private readonly lanes: Lanes | null) {
    if (lanes) this.see(lanes.memory.buffer as ArrayBuffer);
    this.clear();
  }

  /** Forgets all that was taken and added. */
  clear(): void {
    this.taken = this.lanes ? free + 4 * endBytes : 0;
    this.counts.fill(0);
    this.behind = 0;
  }

  /** Where n bytes are that nobody else has. They hold anything. */
  take(n: number): number {
    const at = this.taken;
    this.taken += n;
    if (this.taken > this.bytes.length) this.grow();
    return at;
  }

  /**
   * Has the digest of n bytes from at on written to a place. It is there after the next flush, and until then these bytes must
   * stay as they are.
   */
  add(at: number, n: number, to: number): void {
    if (at + n > this.taken) throw new RangeError("beyond what was taken");
    if (!this.lanes || n >= longest) {
      this.digest.of(this.bytes, this.view, at, n).write(this.view, to);
      return;
    }
    const key = 2 * (n >>> 6) + (n % block < block - 8 ? 0 : 1);
    const count = this.counts[key] as number;
    const slot = entry * (4 * key + count);
    this.waiting[slot] = at;
    this.waiting[slot + 1] = n;
    this.waiting[slot + 2] = to;
    this.counts[key] = count + 1;
    if (key >= this.behind) this.behind = key + 1;
    if (count === 3) this.run(this.lanes, key, 4);
  }

  /** Takes all digests that were added. */
  flush(): void {
    if (!this.lanes) return;
    for (let key = 0; key < this.behind; key++) {
      const count = this.counts[key] as number;
      if (count > 0) this.run(this.lanes, key, count);
    }
    this.behind = 0;
  }

  // Where there are less than four, the last one is taken more than once.
  private run({ digests }: Lanes, key: number, count: number): void {
    this.counts[key] = 0;
    const a = entry * 4 * key;
    const b = a + (count > 1 ? entry : 0);
    const c = b + (count > 2 ? entry : 0);
    const d = c + (count > 3 ? entry : 0);
    const size = block * (1 + (key & 1));
    this.end(a, free, size);
    this.end(b, free + endBytes, size);
    this.end(c, free + 2 * endBytes, size);
    this.end(d, free + 3 * endBytes, size);
    const at = (slot: number) => this.waiting[slot] as number;
    const to = (slot: number) => this.waiting[slot + 2] as number;
    digests(at(a), at(b), at(c), at(d), key >>> 1, free, size / block, to(a), to(b), to(c), to(d));
  }

  // Writes what is left of a part behind its whole blocks, and the padding: the bit, and how many there were.
  private end(slot: number, to: number, size: number): void {
    const { bytes, view } = this;
    const n = this.waiting[slot + 1] as number;
    const left = n % block;
    const from = (this.waiting[slot] as number) + n - left;
    for (let i = left & ~3; i < size - 4; i += 4) view.setUint32(to + i, 0);
    for (let i = 0; i < left; i++) bytes[to + i] = bytes[from + i] as number;
    bytes[to + left] = 0x80;
    view.setUint32(to + size - 4, 8 * n);
  }

  private grow(): void {
    const more = Math.max(this.taken - this.bytes.length, this.bytes.length >> 1);
    if (this.lanes) {
      this.lanes.memory.grow(Math.ceil(more / page));
      this.see(this.lanes.memory.buffer as ArrayBuffer);
      return;
    }
    const bytes = new Uint8Array(this.bytes.length + more);
    bytes.set(this.bytes);
    this.see(bytes.buffer);
  }

  private see(buffer: ArrayBuffer): void {
    this.bytes = new Uint8Array(buffer);
    this.view = new DataView(buffer);
  }
}

/** Compiles what takes four at a time, and tries it; null where that cannot be, may not be, or does not give what the library gives. */
export function lanesHere(compile: () => Lanes = compiled): Lanes | null {
  try {
    const lanes = compile();
    return agrees(new Batch(lanes)) ? lanes : null;
  } catch {
    return null;
  }
}

// Whether it gives the library's digests, and the one of "abc" that the standard's authors give.
function agrees(batch: Batch): boolean {
  const lengths = [3, 0, 1, 55, 56, 63, 64, 119, 120, 1000].flatMap((n) => [n, n, n, n]);
  const at = batch.take(1100);
  const to = batch.take(digestBytes * lengths.length);
  for (let i = 0; i < 1100; i++) batch.bytes[at + i] = i < 3 ? 0x61 + i : (i * 151) >> 3;
  for (const [i, n] of lengths.entries()) batch.add(at + i, n, to + digestBytes * i);
  batch.flush();
  const { bytes, view } = batch;
  const digest = new Digest();
  return (
    view.getUint32(to) === 0xba7816bf &&
    lengths.every((n, i) => digest.of(bytes, view, at + i, n).is(view, to + digestBytes * i))
  );
}
