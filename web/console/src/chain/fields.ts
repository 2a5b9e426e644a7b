// Reads the fields that a message's hash covers where they stand, byte by byte, and keeps nothing but where they are: what
// preimage.ts reads, for whoever goes through many. False wherever preimage.ts would throw.
import { toHex } from "./bytes";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const messageLabel = encoder.encode("context-manager/message/v1\n");
const contentLabel = encoder.encode("context-manager/content/v1\n");
const eventTypes = ["message", "error", "system", "tool", "erasure"].map((t) => encoder.encode(t));
const saltBytes = 16;
const absent = 0xffffffff;
const slots = 1 << 12; // of what was seen last

/** What the fields of messages hold: hashes, lists of hashes, joined, and texts. */
export type Occurring = { hashes: string[]; lists: string[]; texts: string[] };

/** The fields of one message at a time, as places in a buffer. */
export class Fields {
  sequence = 0;
  /** Where it stands; -1: it has none. */
  prevHash = -1;
  contentDigest = 0;
  refsDigest = 0;
  erasure = false;

  private bytes: Uint8Array = new Uint8Array();
  private view = new DataView(this.bytes.buffer);
  private at = 0;
  private end = 0;
  private good = true;
  private readonly known = new Int32Array(slots);
  private found: Occurring = { hashes: [], lists: [], texts: [] };

  /** Reads the fields of a message of a session: whether they are written as they must be, to the last byte. */
  read(bytes: Uint8Array, view: DataView, from: number, end: number, session: Uint8Array): boolean {
    this.bytes = bytes;
    this.view = view;
    this.at = from;
    this.end = end;
    this.good = true;
    this.label(messageLabel);
    const of = this.hash();
    for (let i = 0; i < 32; i++) if (bytes[of + i] !== session[i]) return false;
    this.sized(8);
    this.sequence = view.getUint32(this.at - 8) * 2 ** 32 + view.getUint32(this.at - 4);
    this.prevHash = this.optionalHash();
    this.seen(this.optionalHash());
    this.seen(this.hash());
    this.hashes();
    this.seen(this.optionalHash());
    this.text();
    this.eventType();
    this.sized(2);
    this.text();
    this.text();
    this.contentDigest = this.hash();
    this.hashes();
    this.seen(this.optionalHash());
    this.seen(this.optionalHash());
    this.hashes();
    this.seen(this.optionalHash());
    this.refsDigest = this.hash();
    this.sized(8);
    return this.good && this.at === this.end;
  }

  /** Reads what a content's digest covers: whether it is written as it must be, and is text and JSON. */
  readContent(bytes: Uint8Array, view: DataView, from: number, end: number): boolean {
    this.bytes = bytes;
    this.view = view;
    this.at = from;
    this.end = end;
    this.good = true;
    this.label(contentLabel);
    this.at += saltBytes;
    const content = this.sized(-1);
    this.isText(content, this.at);
    this.json(this.sized(-1));
    const ambient = this.count();
    this.at += ambient === absent ? 0 : ambient;
    if (ambient !== absent) this.json(this.at - ambient);
    return this.good && this.at === this.end;
  }

  /** What occurred since this was asked the last time, of what had not occurred just before. */
  occurred(): Occurring {
    const found = this.found;
    this.found = { hashes: [], lists: [], texts: [] };
    return found;
  }

  private label(expected: Uint8Array): void {
    for (let i = 0; i < expected.length; i++) if (this.bytes[this.at + i] !== expected[i]) this.good = false;
    this.at += expected.length;
  }

  private count(): number {
    if (this.at + 4 > this.end) {
      this.good = false;
      return 0;
    }
    this.at += 4;
    return this.view.getUint32(this.at - 4);
  }

  // Where a field of n bytes begins, of any number below 0.
  private sized(n: number): number {
    const length = this.count();
    if ((n >= 0 && length !== n) || this.at + length > this.end) {
      this.good = false;
      return this.at;
    }
    this.at += length;
    return this.at - length;
  }

  private hash(): number {
    return this.sized(32);
  }

  private optionalHash(): number {
    const length = this.count();
    if (length === absent) return -1;
    if (length !== 32 || this.at + 32 > this.end) this.good = false;
    this.at += 32;
    return this.at - 32;
  }

  private hashes(): void {
    const n = this.count();
    if (n * 36 > this.end - this.at) {
      this.good = false;
      return;
    }
    const from = this.at;
    let key = n;
    for (let i = 0; i < n; i++) {
      const at = this.hash();
      key = Math.imul(key ^ this.view.getInt32(at), 0x9e3779b1);
      this.seen(at);
    }
    if (n === 0 || !this.good || !this.isNew(key)) return;
    const all = Array.from({ length: n }, (_, i) => this.hex(from + 36 * i + 4));
    this.found.lists.push(all.join());
  }

  private text(): void {
    const length = this.count();
    if (length === absent) return;
    const from = this.at;
    if (from + length > this.end) this.good = false;
    if (!this.good) return;
    this.at += length;
    this.isText(from, this.at);
    let key = length + 1;
    for (let i = from; i < this.at; i++) key = Math.imul(key ^ (this.bytes[i] as number), 0x01000193);
    if (this.isNew(key)) this.found.texts.push(decoder.decode(this.bytes.subarray(from, this.at)));
  }

  private eventType(): void {
    const from = this.sized(-1);
    const length = this.at - from;
    const i = eventTypes.findIndex((t) => t.length === length && t.every((b, k) => this.bytes[from + k] === b));
    if (i < 0) this.good = false;
    this.erasure = i === 4;
  }

  // Bytes that are no ASCII are decoded, which throws if they are no text.
  private isText(from: number, end: number): void {
    if (!this.good) return;
    let all = 0;
    let i = from;
    for (; i + 4 <= end; i += 4) all |= this.view.getInt32(i);
    for (; i < end; i++) all |= this.bytes[i] as number;
    if ((all & 0x80808080) !== 0) decoder.decode(this.bytes.subarray(from, end));
  }

  private json(from: number): void {
    if (!this.good) return;
    if (this.at === from + 2 && this.bytes[from] === 0x7b && this.bytes[from + 1] === 0x7d) return; // {}
    JSON.parse(decoder.decode(this.bytes.subarray(from, this.at)));
  }

  private seen(at: number): void {
    if (at >= 0 && this.good && this.isNew(this.view.getInt32(at))) this.found.hashes.push(this.hex(at));
  }

  private hex(at: number): string {
    return toHex(this.bytes.subarray(at, at + 32));
  }

  // Whether something of this key was not seen just before. What shares a key with another is only not offered as what a field
  // that was altered may have held.
  private isNew(key: number): boolean {
    const slot = key & (slots - 1);
    if (this.known[slot] === key) return false;
    this.known[slot] = key;
    return true;
  }
}
