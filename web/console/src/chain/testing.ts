// Writes messages as the server would, so that tests can change one thing and see it found. An encoder of its own,
// written from the format and not from the reader.
import { concat, fromHex, sha256, toBase64, uint32 } from "./bytes";
import { type ChainMessage, microseconds } from "./check";

const utf8 = new TextEncoder();

/** A hash made of one digit. */
export const digits = (digit: string): string => digit.repeat(64);

const frame = (bytes: Uint8Array | null): Uint8Array =>
  bytes ? concat([uint32(bytes.length), bytes]) : new Uint8Array([255, 255, 255, 255]);
const hash = (hex: string | null): Uint8Array => frame(hex === null ? null : fromHex(hex));
const text = (s: string | null): Uint8Array => frame(s === null ? null : utf8.encode(s));
const list = (hashes: readonly { hash: string }[]): Uint8Array =>
  concat([uint32(hashes.length), ...hashes.map((h) => hash(h.hash))]);

function integer(value: bigint, size: 2 | 8): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value);
  return frame(bytes.slice(8 - size));
}

/** The fields that a test may choose. The JSON texts are what Postgres would print; salt is hexadecimal. */
export type Draft = Partial<Omit<ChainMessage, "hash" | "integrity">> & {
  attachmentsText?: string;
  ambientText?: string | null;
  salt?: string;
};

/** A message with a right hash. */
export function write({
  attachmentsText = "{}",
  ambientText = null,
  salt = "09".repeat(16),
  ...draft
}: Draft = {}): ChainMessage {
  const m = {
    prevHash: null,
    sequence: 1,
    session: { hash: digits("5") },
    thread: { hash: digits("7") },
    owner: { hash: digits("a") },
    players: [{ hash: digits("b") }],
    masterPlayer: null,
    role: "user",
    eventType: "MESSAGE",
    importance: 0,
    channel: null,
    source: "test",
    content: "Hello, señora 🧭",
    attachments: JSON.parse(attachmentsText) as unknown,
    ambient: ambientText === null ? null : (JSON.parse(ambientText) as unknown),
    hashtags: [],
    flag: null,
    masterItem: null,
    items: [],
    location: null,
    refs: [],
    createdAt: "2026-03-01T10:00:00.000001Z",
    ...draft,
  };
  const contentBytes = concat([
    utf8.encode("context-manager/content/v1\n"),
    fromHex(salt),
    text(m.content),
    text(attachmentsText),
    text(ambientText),
  ]);
  const refs = [
    utf8.encode("context-manager/refs/v1\n"),
    uint32(m.refs.length),
    ...m.refs.flatMap((r) => [text(r.type.toLowerCase()), hash(r.hash)]),
  ];
  const bytes = concat([
    utf8.encode("context-manager/message/v1\n"),
    hash(m.session.hash),
    integer(BigInt(m.sequence), 8),
    hash(m.prevHash),
    hash(m.thread?.hash ?? null),
    hash(m.owner.hash),
    list(m.players),
    hash(m.masterPlayer?.hash ?? null),
    text(m.role),
    text(m.eventType.toLowerCase()),
    integer(BigInt(m.importance), 2),
    text(m.channel),
    text(m.source),
    hash(sha256(contentBytes)),
    list(m.hashtags),
    hash(m.flag?.hash ?? null),
    hash(m.masterItem?.hash ?? null),
    list(m.items),
    hash(m.location?.hash ?? null),
    hash(sha256(concat(refs))),
    integer(microseconds(m.createdAt) ?? 0n, 8),
  ]);
  const integrity = {
    state: "CHAINED",
    preimage: toBase64(bytes),
    contentPreimage: toBase64(contentBytes),
    leafIndex: null,
    proof: null,
  };
  return { ...m, hash: sha256(bytes), integrity };
}

/** A message as it is after an erasure. */
export const emptied = (m: ChainMessage): ChainMessage => ({
  ...m,
  content: null,
  attachments: {},
  ambient: null,
  integrity: { ...m.integrity, contentPreimage: null },
});

/** The message that records the erasure of another of its session, as number 3 unless told. */
export const erasureOf = (m: ChainMessage, draft: Draft = {}): ChainMessage =>
  write({
    session: m.session,
    sequence: 3,
    eventType: "ERASURE",
    content: "asked for it",
    refs: [{ type: "CONTEXT", hash: m.hash }],
    ...draft,
  });

/** A session of n messages, each linked to the one before. */
export function chain(n: number): ChainMessage[] {
  const all: ChainMessage[] = [];
  for (let i = 1; i <= n; i++) {
    all.push(write({ sequence: i, prevHash: all[i - 2]?.hash ?? null, content: `Message ${i}` }));
  }
  return all;
}
