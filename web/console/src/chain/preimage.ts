// Reads the bytes that a message's hash covers: version 1 of the format.
//
// F(x) is a 4-byte big-endian length and then the bytes, with FFFFFFFF and no bytes for NULL. A(list) is a
// 4-byte big-endian count and then F of each. Hashes are 32 raw bytes, text is UTF-8, integers big-endian.
//
//   content = "context-manager/content/v1\n" ‖ salt(16) ‖ F(content) ‖ F(attachments) ‖ F(ambient or NULL)
//   refs    = "context-manager/refs/v1\n" ‖ count ‖ per ref, by position: F(type) ‖ F(hash)
//   message = "context-manager/message/v1\n" ‖ the fields of MessagePreimage, in their order
import { SaidError } from "../words/said";
import { concat, fromHex, sha256Bytes, toHex, uint32 } from "./bytes";

const encoder = new TextEncoder();
export const contentLabel = "context-manager/content/v1\n";
const refsLabel = "context-manager/refs/v1\n";
export const messageLabel = "context-manager/message/v1\n";
const saltBytes = 16;
const absent = 0xffffffff;
// A byte order mark is part of the text; bytes that are not UTF-8 are an error, not a replacement character.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What a message's hash covers, in the order of the bytes. Hashes are hexadecimal; createdAt is microseconds since 1970. */
export type MessagePreimage = {
  session: string;
  sequence: bigint;
  prevHash: string | null;
  thread: string | null;
  owner: string;
  players: string[];
  masterPlayer: string | null;
  role: string | null;
  eventType: string;
  importance: number;
  channel: string | null;
  source: string | null;
  contentDigest: string;
  hashtags: string[];
  flag: string | null;
  masterItem: string | null;
  items: string[];
  location: string | null;
  refsDigest: string;
  createdAt: bigint;
};

/** What a message's content digest covers. Attachments and ambient are JSON text. */
export type ContentPreimage = { salt: string; content: string; attachments: string; ambient: string | null };

/** The bytes are not of version 1 of the format. */
export class FormatError extends SaidError {}

/** Reads a message's preimage. Throws FormatError unless every byte fits. */
export function parseMessage(bytes: Uint8Array): MessagePreimage {
  const r = new Reader(bytes);
  r.label(messageLabel);
  const fields: MessagePreimage = {
    session: r.hash(),
    sequence: r.int64(),
    prevHash: r.optionalHash(),
    thread: r.optionalHash(),
    owner: r.hash(),
    players: r.hashes(),
    masterPlayer: r.optionalHash(),
    role: r.optionalText(),
    eventType: r.text(),
    importance: r.int16(),
    channel: r.optionalText(),
    source: r.optionalText(),
    contentDigest: r.hash(),
    hashtags: r.hashes(),
    flag: r.optionalHash(),
    masterItem: r.optionalHash(),
    items: r.hashes(),
    location: r.optionalHash(),
    refsDigest: r.hash(),
    createdAt: r.int64(),
  };
  r.end();
  return fields;
}

/** Reads a content preimage. Throws FormatError unless every byte fits. */
export function parseContent(bytes: Uint8Array): ContentPreimage {
  const r = new Reader(bytes);
  r.label(contentLabel);
  const fields = {
    salt: toHex(r.take(saltBytes)),
    content: r.text(),
    attachments: r.text(),
    ambient: r.optionalText(),
  };
  r.end();
  return fields;
}

/** The digest of refs, given by position. Types are in lower case. */
export function refsDigest(refs: readonly { type: string; hash: string }[]): Uint8Array {
  return refs.length === 0 ? noRefs : digestOf(refs);
}

const noRefs = digestOf([]);

function digestOf(refs: readonly { type: string; hash: string }[]): Uint8Array {
  const parts = [encoder.encode(refsLabel), uint32(refs.length)];
  for (const ref of refs) {
    const type = encoder.encode(ref.type);
    const hash = fromHex(ref.hash);
    parts.push(uint32(type.length), type, uint32(hash.length), hash);
  }
  return sha256Bytes(concat(parts));
}

class Reader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly data: Uint8Array) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  take(n: number): Uint8Array {
    if (this.at + n > this.data.length)
      throw new FormatError({ id: "chain.bytes.early", values: { at: this.data.length } });
    this.at += n;
    return this.data.subarray(this.at - n, this.at);
  }

  label(expected: string): void {
    if (this.decode(this.take(expected.length)) !== expected) throw new FormatError({ id: "chain.bytes.label" });
  }

  private count(): number {
    this.take(4);
    return this.view.getUint32(this.at - 4);
  }

  private field(): Uint8Array | null {
    const length = this.count();
    return length === absent ? null : this.take(length);
  }

  private required(): Uint8Array {
    const field = this.field();
    if (!field) throw new FormatError({ id: "chain.bytes.absent", values: { at: this.at } });
    return field;
  }

  private sized(n: number): Uint8Array {
    const field = this.required();
    if (field.length !== n)
      throw new FormatError({ id: "chain.bytes.size", values: { n, has: field.length, at: this.at } });
    return field;
  }

  hash(): string {
    return toHex(this.sized(32));
  }

  optionalHash(): string | null {
    const field = this.field();
    if (field && field.length !== 32)
      throw new FormatError({ id: "chain.bytes.hash", values: { has: field.length, at: this.at } });
    return field && toHex(field);
  }

  hashes(): string[] {
    const count = this.count();
    if (count > this.data.length / 36) throw new FormatError({ id: "chain.bytes.list", values: { count } });
    return Array.from({ length: count }, () => this.hash());
  }

  text(): string {
    return this.decode(this.required());
  }

  optionalText(): string | null {
    const field = this.field();
    return field && this.decode(field);
  }

  int16(): number {
    this.sized(2);
    return this.view.getInt16(this.at - 2);
  }

  int64(): bigint {
    this.sized(8);
    return this.view.getBigInt64(this.at - 8);
  }

  end(): void {
    if (this.at !== this.data.length)
      throw new FormatError({ id: "chain.bytes.more", values: { n: this.data.length - this.at } });
  }

  private decode(bytes: Uint8Array): string {
    try {
      return decoder.decode(bytes);
    } catch {
      throw new FormatError({ id: "chain.bytes.text", values: { at: this.at } });
    }
  }
}
