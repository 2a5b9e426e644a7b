// Checks a part of a session's chain as GET /stretch gives it: docs/chain.md, "A stretch". It is quick where everything
// holds, and says nothing of what does not: that is found out message by message, of another answer. Pure.
import type { Head } from "../seal/checkpoint";
import { copy, Together } from "../seal/together";
import { Batch, type Lanes } from "./batch";
import { fromHex, toBase64, toHex } from "./bytes";
import { type ChainMessage, timeText } from "./check";
import { Digest } from "./digest";
import { Fields } from "./fields";
import { Numbers, type Runs } from "./numbers";
import { parseContent, parseMessage } from "./preimage";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const label = encoder.encode("context-manager/stretch/v1\n");
const refsLabel = encoder.encode("context-manager/refs/v1\n");
const refTypes = ["context", "accountant", "secretary"];
const absent = 0xffffffff;
const leastBytes = 4 + 32 + 4 + 4 + 4 + 8; // of a message

/**
 * A stretch in which all holds: every message's hash, content and refs, each link within, and every place in the tree that
 * it states, if there was a head to check them against.
 */
export type Held = {
  first: ChainMessage;
  last: ChainMessage;
  count: number;
  /** Of its messages, 32 bytes each. */
  hashes: Uint8Array<ArrayBuffer>;
  erased: number;
  /** Erased messages of which the stretch does not say that they were, by hash. */
  gone: [hash: string, sequence: number][];
  /** What it says was erased. */
  erasures: string[];
  proved: number;
  /** The numbers of the rest, and those of them that it says are in the tree. */
  unproved: Runs;
  said: Runs;
  /** The places in the tree of the first and the last message that has one. */
  places: [first: number, last: number] | null;
  provedUpTo: number;
  witnessedUpTo: number;
  /** Where the next one begins: the cursor of VerifyPage; null if nothing is behind it. */
  next: string | null;
};

/**
 * What stands at the beginning of a stretch: the checkpoint that it is for, null if there is none, and whether it has no
 * message. Throws if it cannot be read.
 */
export function startOf(body: ArrayBuffer): { note: string | null; empty: boolean } {
  const bytes = new Uint8Array(body);
  const view = new DataView(body);
  if (!label.every((b, i) => bytes[i] === b)) throw new Error("no stretch");
  let at = label.length;
  const text = (): string | null => {
    const length = view.getUint32(at);
    const from = at + 4;
    at = from + (length === absent ? 0 : length);
    return length === absent ? null : decoder.decode(bytes.subarray(from, at));
  };
  const note = text();
  at += 8;
  text();
  return { note, empty: view.getUint32(at) === 0 };
}

/** Checks stretches of sessions, and gathers what their fields hold that it has not seen yet. */
export class Stretches {
  private readonly batch: Batch;
  private readonly together: Together;
  readonly fields = new Fields();

  constructor(lanes: Lanes | null) {
    this.batch = new Batch(lanes);
    this.together = new Together(this.batch);
  }

  /** Null if it is empty, or anything of it does not hold. Without a head, no place in the tree is looked at. */
  check(body: ArrayBuffer, session: string, head: Head | null): Held | null {
    try {
      this.batch.clear();
      const from = this.batch.take(body.byteLength);
      this.batch.bytes.set(new Uint8Array(body), from);
      return this.read(from, from + body.byteLength, fromHex(session), head);
    } catch {
      return null; // it ends too early, or holds what is no text
    }
  }

  private read(from: number, end: number, session: Uint8Array, head: Head | null): Held | null {
    const { batch, together, fields } = this;
    let { bytes, view } = batch;
    let at = from + label.length;
    const note = view.getUint32(at);
    at += 4 + (note === absent ? 0 : note);
    const witnessed = place(view, at);
    const cursor = view.getUint32(at + 8);
    at += 12;
    const next = cursor === absent ? null : decoder.decode(bytes.subarray(at, at + cursor));
    at += cursor === absent ? 0 : cursor;
    const count = view.getUint32(at);
    at += 4;
    if (count === 0 || count * leastBytes > end - at) return null;
    const digests = new Claims(batch, 3 * count);
    const stated = batch.take(32 * count);
    together.begin(session, count);
    ({ bytes, view } = batch);
    const gone = new Map<string, number>();
    const erasures: string[] = [];
    const [unproved, said] = [new Numbers(), new Numbers()];
    const places: number[] = [];
    let [erased, provedUpTo, witnessedUpTo, sequence, before] = [0, 0, 0, 0, -1];
    let [firstAt, lastAt, lastHash] = [at, at, 0];
    for (let i = 0; i < count; i++) {
      lastAt = at;
      const hash = at + 4;
      const preimage = hash + 36;
      if (view.getUint32(at) !== 32) return null;
      const length = view.getUint32(preimage - 4);
      const contentAt = preimage + length + 4;
      if (contentAt > end) return null;
      digests.claim(preimage, length, hash);
      copy(view, hash, stated + 32 * i);
      if (!fields.read(bytes, view, preimage, preimage + length, session)) return null;
      if (i > 0 && (fields.sequence !== sequence + 1 || !same(view, fields.prevHash, lastHash))) return null;
      sequence = fields.sequence;
      lastHash = hash;
      const content = view.getUint32(contentAt - 4);
      at = contentAt;
      if (content === absent) {
        erased++;
        gone.set(toHex(bytes.subarray(hash, hash + 32)), sequence);
      } else {
        if (at + content > end) return null;
        digests.claim(at, content, fields.contentDigest);
        if (!fields.readContent(bytes, view, at, at + content)) return null;
        at += content;
      }
      const refs = view.getUint32(at);
      at += 4;
      if (at + refs > end) return null;
      if (refs !== 4 || view.getUint32(at) !== 0) {
        digests.claim(this.labelled(at, refs), refsLabel.length + refs, fields.refsDigest);
        ({ bytes, view } = batch);
        if (!refsIn(bytes, view, at, at + refs).every((ref) => refTypes.includes(ref.type))) return null;
      } else if (!same(noRefs, 0, fields.refsDigest, view)) return null;
      if (fields.erasure && content !== absent) {
        for (const ref of refsIn(bytes, view, at, at + refs)) {
          if (ref.type !== "context") continue;
          gone.delete(ref.hash);
          erasures.push(ref.hash);
        }
      }
      at += refs;
      const index = view.getInt32(at) === -1 && view.getInt32(at + 4) === -1 ? -1 : place(view, at);
      at += 8;
      if (index >= 0 && index < witnessed) witnessedUpTo = sequence;
      if (head && index >= 0) {
        if (index <= before) return null;
        before = index;
        together.tell(index, sequence, hash);
        if (places.length === 0) places.push(index);
        provedUpTo = sequence;
      } else {
        unproved.add(sequence);
        if (index >= 0) said.add(sequence);
      }
    }
    const hashes = view.getUint32(at);
    at += 4;
    if (at + hashes * 32 !== end || !digests.hold()) return null;
    if (head && !together.prove(head, at, hashes)) return null;
    return {
      first: messageAt(batch, firstAt),
      last: messageAt(batch, lastAt),
      count,
      hashes: batch.bytes.slice(stated, stated + 32 * count),
      erased,
      gone: [...gone],
      erasures,
      proved: together.told,
      unproved: unproved.runs,
      said: said.runs,
      places: places[0] === undefined ? null : [places[0], before],
      provedUpTo,
      witnessedUpTo,
      next,
    };
  }

  // Where refs stand behind the label that their digest covers, too.
  private labelled(at: number, length: number): number {
    const to = this.batch.take(refsLabel.length + length);
    this.batch.bytes.set(refsLabel, to);
    this.batch.bytes.copyWithin(to + refsLabel.length, at, at + length);
    return to;
  }
}

// Digests that are stated, to be taken all at once.
class Claims {
  private readonly stated: Int32Array;
  private readonly taken: number;
  private count = 0;

  constructor(
    private readonly batch: Batch,
    most: number,
  ) {
    this.stated = new Int32Array(most);
    this.taken = batch.take(32 * most);
  }

  // The digest of n bytes from at on is said to stand somewhere.
  claim(at: number, n: number, stated: number): void {
    this.batch.add(at, n, this.taken + 32 * this.count);
    this.stated[this.count++] = stated;
  }

  // Whether all are what they were said to be.
  hold(): boolean {
    this.batch.flush();
    const { view } = this.batch;
    for (let i = 0; i < this.count; i++) {
      if (!same(view, this.taken + 32 * i, this.stated[i] as number)) return false;
    }
    return true;
  }
}

const noRefs = (() => {
  const view = new DataView(new ArrayBuffer(32));
  const covered = new Uint8Array(refsLabel.length + 4);
  covered.set(refsLabel);
  new Digest().of(covered, new DataView(covered.buffer), 0, covered.length).write(view, 0);
  return view;
})();

const place = (view: DataView, at: number): number => view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);

// Whether 32 bytes are the same; the first of them are absent below 0.
function same(view: DataView, at: number, other: number, of = view): boolean {
  if (at < 0) return false;
  for (let i = 0; i < 32; i += 4) if (view.getInt32(at + i) !== of.getInt32(other + i)) return false;
  return true;
}

function refsIn(bytes: Uint8Array, view: DataView, at: number, end: number): { type: string; hash: string }[] {
  const refs: { type: string; hash: string }[] = [];
  let from = at + 4;
  for (let n = view.getUint32(at); n > 0 && from < end; n--) {
    const length = view.getUint32(from);
    const type = decoder.decode(bytes.subarray(from + 4, from + 4 + length));
    from += 8 + length;
    refs.push({ type, hash: toHex(bytes.subarray(from, from + 32)) });
    from += 32;
  }
  return refs;
}

// A message as VerifyPage gives it, for what is compared with its neighbours; where it is sealed is left out.
function messageAt({ bytes, view }: Batch, at: number): ChainMessage {
  const part = (from: number, length: number) => bytes.subarray(from, from + length);
  const preimage = part(at + 40, view.getUint32(at + 36));
  const contentAt = at + 44 + preimage.length;
  const length = view.getUint32(contentAt - 4);
  const content = length === absent ? null : part(contentAt, length);
  const refsAt = contentAt + (content?.length ?? 0);
  const m = parseMessage(preimage);
  const c = content && parseContent(content);
  const named = (hash: string | null) => (hash === null ? null : { hash });
  const list = (hashes: readonly string[]) => hashes.map((hash) => ({ hash }));
  return {
    hash: toHex(part(at + 4, 32)),
    prevHash: m.prevHash,
    sequence: Number(m.sequence),
    session: { hash: m.session },
    thread: named(m.thread),
    owner: { hash: m.owner },
    players: list(m.players),
    masterPlayer: named(m.masterPlayer),
    role: m.role,
    eventType: m.eventType.toUpperCase(),
    importance: m.importance,
    channel: m.channel,
    source: m.source,
    content: c?.content ?? null,
    attachments: c ? (JSON.parse(c.attachments) as unknown) : {},
    ambient: c?.ambient ? (JSON.parse(c.ambient) as unknown) : null,
    hashtags: list(m.hashtags),
    flag: named(m.flag),
    masterItem: named(m.masterItem),
    items: list(m.items),
    location: named(m.location),
    refs: refsIn(bytes, view, refsAt + 4, refsAt + 4 + view.getUint32(refsAt)).map((r) => ({
      ...r,
      type: r.type.toUpperCase(),
    })),
    createdAt: timeText(m.createdAt),
    integrity: {
      state: "CHAINED",
      preimage: toBase64(preimage),
      contentPreimage: content && toBase64(content),
      leafIndex: null,
      proof: null,
    },
  };
}
