// Writes the bytes that a message's hash covers: what preimage.ts reads. Who has written what is shown, and finds it to
// be what the hash covers, need not read field by field.
import { fromHex } from "./bytes";
import { type ChainMessage, microseconds } from "./check";

const encoder = new TextEncoder();
const mostNames = 1_000;
const label = encoder.encode("context-manager/message/v1\n");

/** The bytes of a message's fields as they are shown, until the next call. Throws if they are none that can be written. */
export function messageBytes(m: ChainMessage, contentDigest: Uint8Array, refsDigest: Uint8Array): Uint8Array {
  w.begin();
  w.put(label);
  w.name(m.session.hash);
  w.int64(BigInt(m.sequence));
  w.hash(m.prevHash);
  w.name(m.thread?.hash ?? null);
  w.name(m.owner.hash);
  w.hashes(m.players);
  w.name(m.masterPlayer?.hash ?? null);
  w.text(m.role);
  w.text(m.eventType.toLowerCase());
  w.int16(m.importance);
  w.text(m.channel);
  w.text(m.source);
  w.framed(contentDigest);
  w.hashes(m.hashtags);
  w.name(m.flag?.hash ?? null);
  w.name(m.masterItem?.hash ?? null);
  w.hashes(m.items);
  w.name(m.location?.hash ?? null);
  w.framed(refsDigest);
  const at = microseconds(m.createdAt);
  if (at === null) throw new Error("no time");
  w.int64(at);
  return w.written;
}

class Writer {
  private at = 0;
  private bytes = new Uint8Array(1024);
  private view = new DataView(this.bytes.buffer);
  private readonly names = new Map<string, Uint8Array>();
  private readonly texts = new Map<string, Uint8Array>();

  begin(): void {
    this.at = 0;
  }

  get written(): Uint8Array {
    return this.bytes.subarray(0, this.at);
  }

  put(part: Uint8Array): void {
    this.room(part.length);
    this.bytes.set(part, this.at);
    this.at += part.length;
  }

  hash(hex: string | null): void {
    this.framed(hex === null ? null : fromHex(hex));
  }

  /** As hash, of what many messages name. */
  name(hex: string | null): void {
    this.framed(hex === null ? null : known(this.names, hex, fromHex));
  }

  hashes(of: readonly { hash: string }[]): void {
    this.uint32(of.length);
    for (const { hash } of of) this.name(hash);
  }

  text(text: string | null): void {
    this.framed(text === null ? null : known(this.texts, text, (t) => encoder.encode(t)));
  }

  int16(value: number): void {
    this.uint32(2);
    this.room(2);
    this.view.setInt16(this.at, value);
    this.at += 2;
  }

  int64(value: bigint): void {
    this.uint32(8);
    this.room(8);
    this.view.setBigInt64(this.at, value);
    this.at += 8;
  }

  framed(part: Uint8Array | null): void {
    this.uint32(part === null ? 0xffffffff : part.length);
    if (part) this.put(part);
  }

  private uint32(value: number): void {
    this.room(4);
    this.view.setUint32(this.at, value);
    this.at += 4;
  }

  private room(n: number): void {
    if (this.at + n <= this.bytes.length) return;
    const more = new Uint8Array(2 * (this.at + n));
    more.set(this.bytes);
    this.bytes = more;
    this.view = new DataView(more.buffer);
  }
}

// What was made of the same words before.
function known(made: Map<string, Uint8Array>, words: string, make: (words: string) => Uint8Array): Uint8Array {
  const before = made.get(words);
  if (before) return before;
  if (made.size >= mostNames) made.clear();
  const bytes = make(words);
  made.set(words, bytes);
  return bytes;
}

const w = new Writer(); // one for all: a message is written to be compared, and not to be kept
