// Finds out which field of a message was altered. One digest covers all of them, so it does not tell which differs; but
// whatever is put back and gives the digest again is what was written. So the values that occur around the message are
// put back one after the other. What is named this way is proved; what is not found stays open. Pure.
import { sha256 as hasher } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { fromBase64, sha256, toHex } from "./bytes";
import { type ChainMessage, microseconds, timeText } from "./check";
import { around, encodeContent, encodeField, type Field } from "./exchange";
import { moments } from "./moments";
import { type ContentPreimage, type MessagePreimage, parseContent, parseMessage, refsDigest } from "./preimage";

/** A field that was altered: what it was, by proof, and what it is. As text; null: it has no value. */
export type Altered = {
  field: Field | keyof ContentPreimage | "hash";
  was: string | null;
  is: string | null;
};

type Bytes = Pick<ChainMessage["integrity"], "preimage" | "contentPreimage">;

/** What is needed of a message beside one whose digests do not fit. */
export type Neighbour = Pick<ChainMessage, "hash" | "prevHash" | "sequence" | "createdAt"> & { integrity: Bytes };

/** A message whose digests do not fit, with those before and after it in its session, as far as they are there. */
export type Broken = {
  message: Neighbour & Pick<ChainMessage, "session" | "refs">;
  previous: Neighbour | null;
  next: Neighbour | null;
};

/** What is needed of a message, and no more of it. */
export function neighbour({ hash, prevHash, sequence, createdAt, integrity }: Neighbour): Neighbour {
  const { preimage, contentPreimage } = integrity;
  return { hash, prevHash, sequence, createdAt, integrity: { preimage, contentPreimage } };
}

/** How many characters a message takes that is kept in this way: most are its bytes. */
export const sizeOf = ({ integrity: { preimage, contentPreimage } }: Neighbour): number =>
  preimage.length + (contentPreimage?.length ?? 0);

const most = 5_000; // hashes, lists and texts that are kept to be tried, each
const mostPairs = 300; // hashes of which every two are tried
const budget = 40_000_000; // characters of changed texts that are hashed, for each way of changing them

/** What occurs in the messages that were seen: what a field of another one may have been. */
export class Seen {
  readonly hashes = new Set<string>();
  readonly lists = new Set<string>(); // hashes, joined
  readonly texts = new Set<string>();
  /** Numbers that sessions lack. */
  readonly missing = new Set<number>();
  private readonly last: (string | null | undefined)[] = [];

  add(m: ChainMessage): void {
    const single = [m.session, m.thread, m.owner, m.masterPlayer, m.flag, m.masterItem, m.location];
    // Most are what they were in the message before.
    for (const [i, x] of single.entries()) this.keep(i, this.hashes, x?.hash ?? null);
    for (const [i, x] of [m.role, m.channel, m.source].entries()) this.keep(7 + i, this.texts, x);
    for (const [i, list] of [m.players, m.hashtags, m.items].entries()) {
      if (!this.keep(10 + i, this.lists, list.map((x) => x.hash).join())) continue;
      for (const { hash } of list) this.put(this.hashes, hash);
    }
  }

  /** Notes what fields may hold. */
  know({ hashes, lists = [], texts = [] }: { hashes: string[]; lists?: string[]; texts?: string[] }): void {
    for (const hash of hashes) this.put(this.hashes, hash);
    for (const list of lists) this.put(this.lists, list);
    for (const text of texts) this.put(this.texts, text);
  }

  /** Notes a number that a session lacks; false once there are too many. */
  lacks(n: number): boolean {
    return this.missing.size < most && this.missing.add(n) !== undefined;
  }

  private keep(at: number, into: Set<string>, value: string | null): boolean {
    if (this.last[at] === value) return false;
    this.last[at] = value;
    if (value !== null) this.put(into, value);
    return true;
  }

  private put(into: Set<string>, value: string): void {
    if (into.size < most) into.add(value);
  }
}

/**
 * What was altered of a message whose fields do not give its hash, or whose content does not give its digest. Null if no
 * value that was tried gives it. inTree: whether the hash that was computed is the one in the signed tree.
 */
export function alteredOf(broken: Broken, seen: Seen, inTree: boolean): Altered | null {
  const { message: m, next } = broken;
  const bytes = fromBase64(m.integrity.preimage);
  const computed = sha256(bytes);
  const preimage = parseMessage(bytes);
  if (computed === m.hash) return alteredContent(broken, preimage.contentDigest);
  if (inTree || next?.prevHash === computed) return { field: "hash", was: computed, is: m.hash };
  for (const [field, values] of candidates(broken, preimage, seen)) {
    const was = exchanged(preimage, field, values, m.hash);
    if (was !== undefined) return { field, was: shown(field, was), is: shown(field, preimage[field]) };
  }
  return null;
}

type Value = MessagePreimage[Field];

// The value that, in the place of what the field holds, gives the hash.
function exchanged(m: MessagePreimage, field: Field, values: Iterable<Value>, hash: string): Value | undefined {
  const [before, behind] = around(m, field);
  const begun = hasher.create().update(before); // what stands before it is the same for all
  for (const value of values) {
    const digest = begun
      .clone()
      .update(encodeField(field, value as never))
      .update(behind)
      .digest();
    if (bytesToHex(digest) === hash) return value;
  }
  return undefined;
}

function candidates(
  { message: m, previous, next }: Broken,
  p: MessagePreimage,
  seen: Seen,
): [Field, Iterable<Value>][] {
  const one = () => [null, ...seen.hashes];
  const content = m.integrity.contentPreimage;
  const refs = m.refs.map((r) => ({ type: r.type.toLowerCase(), hash: r.hash }));
  const numbers = [(previous?.sequence ?? 0) + 1, (next?.sequence ?? 2) - 1, ...seen.missing].map(BigInt);
  return [
    ["contentDigest", content === null ? [] : [sha256(fromBase64(content))]],
    ["refsDigest", [toHex(refsDigest(refs))]],
    ["prevHash", [null, ...(previous ? [previous.hash, sha256(fromBase64(previous.integrity.preimage))] : [])]],
    ["sequence", numbers],
    ["eventType", ["message", "error", "system", "tool", "erasure"]],
    ["importance", [0, 1, 2]],
    ["thread", one()],
    ["masterPlayer", one()],
    ["flag", one()],
    ["masterItem", one()],
    ["location", one()],
    ["owner", seen.hashes],
    ["session", seen.hashes],
    ["role", texts(p.role, seen)],
    ["channel", texts(p.channel, seen)],
    ["source", texts(p.source, seen)],
    ["players", lists(p.players, seen)],
    ["hashtags", lists(p.hashtags, seen)],
    ["items", lists(p.items, seen)],
    ["createdAt", moments(p.createdAt, previous && timeOf(previous), next && timeOf(next))],
  ];
}

const timeOf = (m: Neighbour): bigint | null => microseconds(m.createdAt);

const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const roles = ["user", "assistant", "system", "tool", "agent", "admin"];

// None, what others have there, and what a small change makes of what it is.
function* texts(is: string | null, seen: Seen): Generator<string | null> {
  yield null;
  yield "";
  yield* roles;
  yield* seen.texts;
  if (is !== null) yield* changed(is);
}

// A text in small and capital letters; without something at its end or its beginning; with a letter or digit more, less or
// exchanged in one place. Of long ones as much as there is time for.
function* changed(is: string): Generator<string> {
  yield* [is.toLowerCase(), is.toUpperCase(), is.trim()];
  const { length } = is;
  for (let cut = 1; cut < length && cut * length <= budget; cut++) {
    yield is.slice(0, length - cut);
    yield is.slice(cut);
  }
  if (length * length * letters.length * 2 > budget) return;
  for (let i = 0; i <= length; i++) {
    const [before, from, behind] = [is.slice(0, i), is.slice(i), is.slice(i + 1)];
    yield before + behind;
    for (const c of letters) {
      yield before + c + behind;
      yield before + c + from;
    }
  }
}

// What others have there; and the list with one thing out, in, exchanged, or two next to each other turned round.
function* lists(is: readonly string[], seen: Seen): Generator<string[]> {
  yield [];
  for (const list of seen.lists) yield list.split(",").filter((hash) => hash !== "");
  for (let i = 0; i < is.length; i++) {
    yield [...is.slice(0, i), ...is.slice(i + 1)];
    yield [...is.slice(0, i), ...is.slice(i, i + 2).reverse(), ...is.slice(i + 2)];
  }
  if (is.length > 8) return; // too many ways
  if (is.length === 0 && seen.hashes.size <= mostPairs) {
    for (const a of seen.hashes) for (const b of seen.hashes) if (a !== b) yield [a, b];
  }
  for (const hash of seen.hashes) {
    for (let i = 0; i <= is.length; i++) {
      yield [...is.slice(0, i), hash, ...is.slice(i)];
      if (i < is.length) yield [...is.slice(0, i), hash, ...is.slice(i + 1)];
    }
  }
}

function alteredContent({ message: m, previous, next }: Broken, digest: string): Altered | null {
  if (m.integrity.contentPreimage === null) return null;
  const p = parseContent(fromBase64(m.integrity.contentPreimage));
  const near = [previous, next].flatMap((n) =>
    n?.integrity.contentPreimage ? [parseContent(fromBase64(n.integrity.contentPreimage))] : [],
  );
  const tried: [keyof ContentPreimage, Iterable<string | null>][] = [
    ["ambient", [null, "{}", ...near.map((n) => n.ambient)]],
    ["attachments", ["{}", "[]", ...near.map((n) => n.attachments)]],
    ["content", near.map((n) => n.content)],
    ["content", changed(p.content)],
    ["attachments", changed(p.attachments)],
    ["ambient", p.ambient === null ? [] : changed(p.ambient)],
  ];
  for (const [field, values] of tried) {
    for (const was of values) {
      if (sha256(encodeContent({ ...p, [field]: was })) === digest) return { field, was, is: p[field] };
    }
  }
  return null;
}

function shown(field: Field, value: Value): string | null {
  if (value === null) return null;
  if (field === "createdAt") return timeText(value as bigint);
  return Array.isArray(value) ? value.join(", ") : String(value);
}
