import { describe, expect, it } from "vitest";
import type { Head } from "../seal/checkpoint";
import { TestTree } from "../seal/testing";
import { Together } from "../seal/together";
import { Batch, lanesHere } from "./batch";
import { concat, fromBase64, fromHex, toHex, uint32 } from "./bytes";
import type { ChainMessage } from "./check";
import { SessionCheck } from "./session";
import { Stretches, startOf } from "./stretch";
import { chain, digits, write } from "./testing";

const session = digits("5");
const note = "a note\n\n— of somebody\n";
const utf8 = new TextEncoder();
const absent = new Uint8Array([255, 255, 255, 255]);
const framed = (bytes: Uint8Array | null) => (bytes ? concat([uint32(bytes.length), bytes]) : absent);
const uint64 = (n: number) => (n < 0 ? concat([absent, absent]) : concat([uint32(Math.floor(n / 2 ** 32)), uint32(n)]));
const refsOf = (m: ChainMessage) =>
  concat([
    uint32(m.refs.length),
    ...m.refs.flatMap((r) => [framed(utf8.encode(r.type.toLowerCase())), framed(fromHex(r.hash))]),
  ]);

type Options = { size?: number; foreign?: number; next?: string | null; witnessed?: number };

/** A stretch of a session whose messages alternate in the tree with as many foreign ones. */
function encode(messages: ChainMessage[], { size = 1e9, foreign = 1, next = null, witnessed = 0 }: Options = {}) {
  const leaves = messages.flatMap((m) => [
    { session: m.session.hash, sequence: m.sequence, hash: m.hash },
    ...Array.from({ length: foreign }, (_, i) => ({ session: digits("e"), sequence: i + 1, hash: m.hash })),
  ]);
  const n = Math.min(size, leaves.length);
  const tree = new TestTree(leaves);
  const places = messages.map((_, i) => (i * (1 + foreign) < n ? i * (1 + foreign) : -1));
  const told = places.filter((p) => p >= 0);
  const path = told.length > 0 ? tree.without(told, n) : [];
  const head: Head = { size: n, root: tree.root(n) };
  const bytes = concat([
    utf8.encode("context-manager/stretch/v1\n"),
    framed(utf8.encode(note)),
    uint64(witnessed),
    framed(next === null ? null : utf8.encode(next)),
    uint32(messages.length),
    ...messages.flatMap((m, i) => [
      framed(fromHex(m.hash)),
      framed(fromBase64(m.integrity.preimage)),
      framed(m.integrity.contentPreimage === null ? null : fromBase64(m.integrity.contentPreimage)),
      framed(refsOf(m)),
      uint64(places[i] ?? -1),
    ]),
    uint32(path.length),
    ...path,
  ]);
  return { body: bytes.buffer as ArrayBuffer, bytes, head };
}

const hashers = [
  ["four at a time", lanesHere()],
  ["one by one", null],
] as const;
const none = { hashes: [], lists: [], texts: [] };

describe.each(hashers)("leaves that are proved together, hashed %s", (_, lanes) => {
  it("give the root of every tree, whichever they are, and with any other hash they do not", () => {
    const leaves = Array.from({ length: 9 }, (_, i) => ({ session, sequence: i + 1, hash: digits(String(i)) }));
    const tree = new TestTree(leaves);
    const batch = new Batch(lanes);
    const together = new Together(batch);
    for (let size = 1; size <= leaves.length; size++) {
      for (let set = 1; set < 2 ** size; set++) {
        const told = leaves.slice(0, size).flatMap((_, i) => (set & (2 ** i) ? [i] : []));
        const path = tree.without(told, size);
        const bytes = concat(path);
        const head = { size, root: tree.root(size) };
        const proves = (hashes: Uint8Array, n: number, skip = -1) => {
          batch.clear();
          together.begin(fromHex(session), told.length);
          const at = batch.take(hashes.length + 32);
          batch.bytes.set(hashes, at + 32);
          for (const i of told) {
            batch.bytes.set(fromHex(leaves[i === skip ? (i + 1) % 9 : i]?.hash ?? ""), at);
            together.tell(i, i + 1, at);
          }
          return together.prove(head, at + 32, n);
        };
        expect(proves(bytes, path.length)).toBe(true);
        expect(proves(bytes, path.length, told[0])).toBe(false);
        expect(proves(concat([bytes, new Uint8Array(32)]), path.length + 1)).toBe(false);
        if (path.length === 0) continue;
        expect(proves(bytes, path.length - 1)).toBe(false);
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
        expect(proves(bytes, path.length)).toBe(false);
      }
    }
  });
});

describe.each(hashers)("a stretch, hashed %s", (_, lanes) => {
  const stretches = new Stretches(lanes);
  const check = (body: ArrayBuffer, head: Head | null) => stretches.check(body, session, head);
  const refs = [{ type: "CONTEXT", hash: digits("c") }];
  const messages = chain(4);
  const fifth = write({ sequence: 5, prevHash: messages[3]?.hash ?? "", refs, attachmentsText: '{"a": 1}' });
  const all = [...messages, fifth];

  it("that holds is told as what its messages add up to", () => {
    const { body, head } = encode(all, { next: "on", witnessed: 3 });
    expect(startOf(body)).toEqual({ note, empty: false });
    expect(check(body, head)).toMatchObject({
      first: { sequence: 1, hash: all[0]?.hash },
      last: { sequence: 5, hash: fifth.hash, refs, content: fifth.content, attachments: { a: 1 } },
      count: 5,
      proved: 5,
      unproved: [],
      said: [],
      places: [0, 8],
      provedUpTo: 5,
      witnessedUpTo: 2,
      next: "on",
    });
    expect(toHex(check(body, head)?.hashes ?? new Uint8Array())).toBe(all.map((m) => m.hash).join(""));
    expect(check(body, null)).toMatchObject({ proved: 0, places: null, unproved: [1, 5], said: [1, 5] });
    const partly = encode(all, { size: 4 });
    expect(check(partly.body, partly.head)).toMatchObject({ proved: 2, unproved: [3, 5], said: [] });
  });

  it("is refused with any bit of any message, link, place or proof altered", () => {
    const { bytes, head } = encode(all, { foreign: 2 });
    const messagesAt = 27 + 4 + utf8.encode(note).length + 8 + 4;
    const held: number[] = [];
    for (let i = messagesAt; i < bytes.length; i++) {
      const altered = bytes.slice();
      altered[i] = (altered[i] ?? 0) ^ (1 << (i % 8));
      if (check(altered.buffer as ArrayBuffer, head)) held.push(i);
    }
    expect(held).toEqual([]);
  });

  it("is refused with a message less, more, twice or elsewhere, or cut anywhere", () => {
    const [one, two, three, four] = messages as [ChainMessage, ChainMessage, ChainMessage, ChainMessage];
    for (const wrong of [
      [one, three],
      [two, one],
      [one, one],
      [one, two, four],
      [one, two, two, three],
    ]) {
      const { body, head } = encode(wrong);
      expect(check(body, head)).toBeNull();
    }
    const { bytes, head } = encode(all);
    for (let n = 0; n < bytes.length; n++) expect(check(bytes.slice(0, n).buffer as ArrayBuffer, head)).toBeNull();
    expect(check(encode([write({ session: { hash: digits("6") } })]).body, null)).toBeNull();
    expect(check(encode(all).body, { ...head, root: encode(messages).head.root })).toBeNull();
  });

  it("is refused where fields that give the hash are not written as they must be", () => {
    const odd = [
      write({ eventType: "OTHER" }),
      write({ refs: [{ type: "OTHER", hash: digits("c") }] }),
      write({ attachmentsText: "{}", salt: "09".repeat(17) }),
    ];
    for (const m of odd) expect(check(encode([m]).body, null)).toBeNull();
  });

  it("follows another where it goes on with its last message, and not elsewhere", () => {
    const occurring = none;
    const joined = (before: number, from: number) => {
      const session5 = new SessionCheck(session, 5, fifth.hash);
      const held = check(encode(all.slice(0, before)).body, null);
      const behind = check(encode(all.slice(from)).body, null);
      if (!held || !behind) throw new Error("it does not hold");
      expect(session5.stretch(held, occurring)).toMatchObject({ checked: before, upTo: before });
      return { progress: session5.stretch(behind, occurring), end: () => session5.end() };
    };
    const whole = joined(2, 2);
    expect(whole.progress).toMatchObject({ checked: 5, upTo: 5, findings: [] });
    expect(whole.end().findings).toEqual([]);
    expect(joined(2, 3).progress).toBeNull();
    expect(joined(3, 2).progress).toBeNull();
    const begins = new SessionCheck(session, 5, fifth.hash);
    const late = check(encode(all.slice(1)).body, null);
    expect(late && begins.stretch(late, occurring)).toBeNull();
  });

  it("says at its beginning that it has no message", () => {
    const start = utf8.encode("context-manager/stretch/v1\n");
    const none = concat([start, absent, uint64(0), absent, uint32(0), uint32(0)]);
    expect(startOf(none.buffer as ArrayBuffer)).toEqual({ note: null, empty: true });
  });

  it("tells what was erased, and a later one that it was on the record", () => {
    const gone = all
      .slice(0, 2)
      .map((m, i) => (i === 1 ? { ...m, content: null, integrity: { ...m.integrity, contentPreimage: null } } : m));
    const erasure = write({
      sequence: 3,
      prevHash: gone[1]?.hash ?? "",
      eventType: "ERASURE",
      refs: [{ type: "CONTEXT", hash: gone[1]?.hash ?? "" }],
    });
    const first = check(encode(gone).body, null);
    const second = check(encode([erasure]).body, null);
    const together = check(encode([...gone, erasure]).body, null);
    expect(first).toMatchObject({ erased: 1, gone: [[gone[1]?.hash, 2]], erasures: [] });
    expect(together).toMatchObject({ erased: 1, gone: [], erasures: [gone[1]?.hash] });
    if (!first || !second) throw new Error("it does not hold");
    const onRecord = new SessionCheck(session, 3, erasure.hash);
    onRecord.stretch(first, none);
    onRecord.stretch(second, none);
    expect(onRecord.end().findings).toEqual([]);
    const unrecorded = new SessionCheck(session, 2, gone[1]?.hash ?? "");
    unrecorded.stretch(first, none);
    expect(unrecorded.end().findings).toMatchObject([{ kind: "content", sequence: 2 }]);
  });

  it("gathers what its fields hold, once", () => {
    const fresh = new Stretches(lanes);
    const { body } = encode(all);
    fresh.check(body, session, null);
    const { hashes, lists, texts } = fresh.fields.occurred();
    expect(hashes.toSorted()).toEqual([digits("7"), digits("a"), digits("b")]);
    expect(lists).toEqual([digits("b")]);
    expect(texts.toSorted()).toEqual(["test", "user"]);
    fresh.check(body, session, null);
    expect(fresh.fields.occurred()).toEqual(none);
  });
});
