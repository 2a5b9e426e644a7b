// Writes the bytes that a message's hash covers, field by field, so that one of them can be exchanged and the rest kept.
import { concat, fromHex, uint32 } from "./bytes";
import { type ContentPreimage, contentLabel, type MessagePreimage, messageLabel } from "./preimage";

/** A field that the hash covers. */
export type Field = keyof MessagePreimage;

const utf8 = new TextEncoder();
const absent = new Uint8Array([255, 255, 255, 255]);

const framed = (bytes: Uint8Array): Uint8Array => concat([uint32(bytes.length), bytes]);
const hash = (hex: string | null): Uint8Array => (hex === null ? absent : framed(fromHex(hex)));
const text = (s: string | null): Uint8Array => (s === null ? absent : framed(utf8.encode(s)));
const list = (hashes: readonly string[]): Uint8Array => concat([uint32(hashes.length), ...hashes.map(hash)]);

function int64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 8);
  view.setBigInt64(4, value);
  return bytes;
}

const int16 = (value: number): Uint8Array => new Uint8Array([0, 0, 0, 2, (value >> 8) & 255, value & 255]);

// In the order of the bytes.
const writers: { [F in Field]: (value: MessagePreimage[F]) => Uint8Array } = {
  session: hash,
  sequence: int64,
  prevHash: hash,
  thread: hash,
  owner: hash,
  players: list,
  masterPlayer: hash,
  role: text,
  eventType: text,
  importance: int16,
  channel: text,
  source: text,
  contentDigest: hash,
  hashtags: list,
  flag: hash,
  masterItem: hash,
  items: list,
  location: hash,
  refsDigest: hash,
  createdAt: int64,
};

/** Every field, in the order of the bytes. */
export const fields = Object.keys(writers) as Field[];

/** The bytes of one field. */
export const encodeField = <F extends Field>(field: F, value: MessagePreimage[F]): Uint8Array => writers[field](value);

/** The bytes before a field, and those behind it. */
export function around(m: MessagePreimage, field: Field): [before: Uint8Array, behind: Uint8Array] {
  const at = fields.indexOf(field);
  const part = (f: Field) => encodeField(f, m[f] as never);
  return [
    concat([utf8.encode(messageLabel), ...fields.slice(0, at).map(part)]),
    concat(fields.slice(at + 1).map(part)),
  ];
}

/** All of a content preimage. */
export const encodeContent = ({ salt, content, attachments, ambient }: ContentPreimage): Uint8Array =>
  concat([utf8.encode(contentLabel), fromHex(salt), text(content), text(attachments), text(ambient)]);
