// Checks what the API says of messages against the bytes that their hashes cover. Pure: no network, no clock.

import type { Said } from "../words/said";
import { fromBase64, sameBytes, sha256, sha256Bytes, toHex } from "./bytes";
import { messageBytes } from "./encode";
import { FormatError, type MessagePreimage, parseContent, parseMessage, refsDigest } from "./preimage";

/** A message as the API gives it: the query VerifyPage asks for exactly this. */
export type ChainMessage = {
  hash: string;
  prevHash: string | null;
  sequence: number;
  session: { hash: string };
  thread: { hash: string } | null;
  owner: { hash: string };
  players: { hash: string }[];
  masterPlayer: { hash: string } | null;
  role: string | null;
  eventType: string;
  importance: number;
  channel: string | null;
  source: string | null;
  content: string | null;
  attachments: unknown;
  ambient: unknown;
  hashtags: { hash: string }[];
  flag: { hash: string } | null;
  masterItem: { hash: string } | null;
  items: { hash: string }[];
  location: { hash: string } | null;
  refs: { type: string; hash: string }[];
  createdAt: string;
  integrity: {
    state: string;
    preimage: string;
    contentPreimage: string | null;
    leafIndex: number | null;
    proof: string | null;
  };
};

/** What can be wrong: with a message itself, or with its link to the message before. */
export type FindingKind = "hash" | "field" | "content" | "refs" | "format" | "link" | "gap" | "tail" | "proof";

/** One thing that does not fit, found in this browser. */
export type Finding = {
  kind: FindingKind;
  session: string;
  sequence: number;
  hash: string;
  /** For a person. */
  detail: Said;
  /** What was computed here, and what the server states; where there are two such things. */
  computed?: string;
  stated?: string;
  /** What the field that was altered held, by proof, and what it holds; null: nothing. Where it is known. */
  was?: string | null;
  is?: string | null;
};

/**
 * The outcome for one message. hash is what its fields give, null if they cannot be read. erased: its content is gone,
 * so only the digest could be checked; whether that is on the record, checkShown and its session say.
 */
export type MessageCheck = { hash: string | null; findings: Finding[]; erased: boolean };

/** Checks one message by itself: its hash, every field, its content and its refs. */
export function checkMessage(m: ChainMessage): MessageCheck {
  const findings: Finding[] = [];
  const at = { session: m.session.hash, sequence: m.sequence, hash: m.hash };
  const add = (kind: FindingKind, detail: Said, computed?: string, stated?: string) =>
    findings.push({ kind, ...at, detail, computed, stated });
  let computed: string | null = null;
  try {
    const bytes = fromBase64(m.integrity.preimage);
    computed = sha256(bytes);
    if (computed !== m.hash) add("hash", { id: "chain.hash" }, computed, m.hash);
    const content = contentOf(m);
    if (!content || !covers(bytes, m, content.digest)) checkFields(m, parseMessage(bytes), content, add);
    checkContent(m, content, add);
  } catch (error) {
    const why = error instanceof FormatError ? error.said : String(error instanceof Error ? error.message : error);
    add("format", { id: "chain.format", values: { why } });
  }
  return { hash: computed, findings, erased: m.integrity.contentPreimage === null && m.content === null };
}

type Add = (kind: FindingKind, detail: Said, computed?: string, stated?: string) => void;

// What the content's digest covers, and the digest; null if the content was erased.
type Content = { bytes: Uint8Array; digest: Uint8Array };

function contentOf({ integrity: { contentPreimage } }: ChainMessage): Content | null {
  if (contentPreimage === null) return null;
  const bytes = fromBase64(contentPreimage);
  return { bytes, digest: sha256Bytes(bytes) };
}

const refsOf = (m: ChainMessage) => refsDigest(m.refs.map((r) => ({ type: r.type.toLowerCase(), hash: r.hash })));

// Whether bytes are those of every field as it is shown. Quicker than to read and compare each, and it mostly is so.
function covers(bytes: Uint8Array, m: ChainMessage, contentDigest: Uint8Array): boolean {
  try {
    return sameBytes(messageBytes(m, contentDigest, refsOf(m)), bytes);
  } catch {
    return false; // something is shown that cannot be written: which field, the caller says
  }
}

// Names what differs.
function checkFields(m: ChainMessage, preimage: MessagePreimage, content: Content | null, add: Add): void {
  for (const [field, covered, shown] of compared(m, preimage)) {
    if (covered !== shown) add("field", { id: "chain.field", values: { field } }, covered, shown);
  }
  const refs = toHex(refsOf(m));
  if (refs !== preimage.refsDigest) add("refs", { id: "chain.refs" }, refs, preimage.refsDigest);
  const digest = content && toHex(content.digest);
  if (digest && digest !== preimage.contentDigest) {
    add("content", { id: "chain.content" }, digest, preimage.contentDigest);
  }
}

function checkContent(m: ChainMessage, content: Content | null, add: Add): void {
  if (!content) {
    if (m.content !== null) add("content", { id: "chain.withheld" });
    return;
  }
  const covered = parseContent(content.bytes);
  if (covered.content !== m.content) add("content", { id: "chain.content.other" });
  if (!sameJSON(JSON.parse(covered.attachments), m.attachments)) {
    add("content", { id: "chain.attachments.other" });
  }
  if (!sameJSON(covered.ambient === null ? null : JSON.parse(covered.ambient), m.ambient ?? null)) {
    add("content", { id: "chain.ambient.other" });
  }
}

/** Checks that m follows previous in its session; previous is null for the session's first message. */
export function checkLink(previous: ChainMessage | null, m: ChainMessage): Finding[] {
  const at = { session: m.session.hash, sequence: m.sequence, hash: m.hash };
  const expected = (previous?.sequence ?? 0) + 1;
  if (m.sequence !== expected) {
    const detail: Said =
      m.sequence > expected
        ? missing(expected, m.sequence - 1)
        : { id: "chain.order", values: { sequence: m.sequence, before: expected - 1 } };
    return [{ kind: "gap", ...at, detail }];
  }
  if (m.prevHash === (previous?.hash ?? null)) return [];
  const detail: Said = { id: previous ? "chain.link" : "chain.link.first" };
  return [{ kind: "link", ...at, detail, computed: previous?.hash ?? none, stated: m.prevHash ?? none }];
}

function missing(from: number, to: number): Said {
  return from === to ? { id: "chain.gap", values: { from } } : { id: "chain.gaps", values: { from, to } };
}

const none = "–"; // where there is no hash, or no value

// Pairs of what the hash covers and what the API shows, as text, with the field's name in the words of chain.field.
function compared(m: ChainMessage, p: MessagePreimage): [field: string, covered: string, shown: string][] {
  const text = (x: unknown) => (x === null ? none : String(x));
  const list = (hashes: readonly string[]) => hashes.join(", ") || none;
  const hashes = (nodes: readonly { hash: string }[]) => list(nodes.map((n) => n.hash));
  const hash = (node: { hash: string } | null) => text(node?.hash ?? null);
  return [
    ["session", p.session, m.session.hash],
    ["sequence", text(p.sequence), text(m.sequence)],
    ["link", text(p.prevHash), text(m.prevHash)],
    ["thread", text(p.thread), hash(m.thread)],
    ["sender", p.owner, m.owner.hash],
    ["receivers", list(p.players), hashes(m.players)],
    ["coordinator", text(p.masterPlayer), hash(m.masterPlayer)],
    ["role", text(p.role), text(m.role)],
    ["eventType", p.eventType, m.eventType.toLowerCase()],
    ["importance", text(p.importance), text(m.importance)],
    ["channel", text(p.channel), text(m.channel)],
    ["source", text(p.source), text(m.source)],
    ["tags", list(p.hashtags), hashes(m.hashtags)],
    ["flag", text(p.flag), hash(m.flag)],
    ["mainItem", text(p.masterItem), hash(m.masterItem)],
    ["items", list(p.items), hashes(m.items)],
    ["location", text(p.location), hash(m.location)],
    ["time", text(p.createdAt), text(microseconds(m.createdAt))],
  ];
}

/** Microseconds since 1970 of an RFC 3339 time in UTC; null if it is not one. */
export function microseconds(time: string): bigint | null {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(time);
  const seconds = match ? Date.parse(`${match[1]}Z`) : Number.NaN;
  if (Number.isNaN(seconds)) return null;
  return BigInt(seconds) * 1000n + BigInt((match?.[2] ?? "").padEnd(6, "0"));
}

/** An RFC 3339 time in UTC with six digits, of microseconds since 1970. */
export function timeText(microseconds: bigint): string {
  const rest = ((microseconds % 1_000n) + 1_000n) % 1_000n;
  const text = new Date(Number((microseconds - rest) / 1_000n)).toISOString();
  return text.replace("Z", `${String(rest).padStart(3, "0")}Z`);
}

/** Whether two JSON values are the same, whatever the order of their keys. */
export function sameJSON(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a);
  const right = b as Record<string, unknown>;
  return (
    left.length === Object.keys(b).length &&
    left.every(([key, value]) => Object.hasOwn(right, key) && sameJSON(value, right[key]))
  );
}
