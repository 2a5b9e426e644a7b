import { describe, expect, it } from "vitest";
import { fromBase64, sha256, toBase64 } from "./bytes";
import type { ChainMessage } from "./check";
import { encodeContent, encodeField, fields } from "./exchange";
import { parseContent, parseMessage } from "./preimage";
import { SessionCheck } from "./session";
import { type Draft, digits, write } from "./testing";

const session = digits("5");
const people = ["a", "b", "c", "d"].map((d) => ({ hash: digits(d) }));

// Seven messages as a conversation has them, with the moment to the second.
function conversation(): ChainMessage[] {
  const all: ChainMessage[] = [];
  for (let i = 1; i <= 7; i++) {
    const [a = { hash: "" }, b = { hash: "" }, c = { hash: "" }, d = { hash: "" }] = people;
    const draft: Draft = {
      sequence: i,
      prevHash: all.at(-1)?.hash ?? null,
      owner: i % 2 ? a : b,
      players: i % 2 ? [b, c] : [a, d],
      masterPlayer: i > 2 ? c : null,
      role: i % 2 ? "user" : "assistant",
      channel: i > 3 ? "webchat" : "voice",
      hashtags: [{ hash: digits("1") }, { hash: digits("2") }],
      flag: { hash: digits(i % 2 ? "3" : "4") },
      items: [{ hash: digits("6") }],
      refs: i === 4 ? [{ type: "CONTEXT", hash: all[0]?.hash ?? "" }] : [],
      content: `Room ${100 + i} costs 90 euro.`,
      createdAt: `2026-03-01T10:0${i}:30.123456Z`,
    };
    all.push(write(draft));
  }
  return all;
}

// The fourth message as a server shows it whose database was altered: it makes the bytes of what it finds.
function tampered(change: Draft, contentDigest?: string): ChainMessage[] {
  return conversation().map((m) => {
    if (m.sequence !== 4) return m;
    const { attachments: _, ambient: __, ...rest } = m; // written anew from their texts
    const now = write({ ...rest, ...change });
    const [was, is] = [
      parseMessage(fromBase64(m.integrity.preimage)),
      parseMessage(fromBase64(now.integrity.preimage)),
    ];
    // The digests of content and refs are columns of their own.
    const p = { ...is, contentDigest: contentDigest ?? was.contentDigest, refsDigest: was.refsDigest };
    const text = atob(write().integrity.preimage).slice(0, "context-manager/message/v1\n".length);
    const bytes = [...text].map((c) => c.charCodeAt(0));
    for (const f of fields) bytes.push(...encodeField(f, p[f] as never));
    const { contentPreimage } = now.integrity;
    return {
      ...now,
      hash: m.hash,
      integrity: { ...now.integrity, preimage: toBase64(new Uint8Array(bytes)), contentPreimage },
    };
  });
}

function found(messages: ChainMessage[]) {
  const check = new SessionCheck(session, 7, conversation()[6]?.hash ?? "");
  check.page(messages.slice(0, 3), null);
  check.page(messages.slice(3), null);
  check.end();
  let explained = check.explain();
  while (check.explicable) explained = check.explain();
  return explained.findings;
}

describe("what was altered of a message is told, with what it was", () => {
  const other = { hash: digits("f") };
  const cases: [string, Draft, string | null][] = [
    ["thread", { thread: other }, digits("7")],
    ["thread", { thread: null }, digits("7")],
    ["owner", { owner: other }, digits("b")],
    ["players", { players: [] }, [digits("a"), digits("d")].join(", ")],
    ["players", { players: [{ hash: digits("d") }, { hash: digits("a") }] }, [digits("a"), digits("d")].join(", ")],
    ["masterPlayer", { masterPlayer: null }, digits("c")],
    ["role", { role: "admin" }, "assistant"],
    ["role", { role: null }, "assistant"],
    ["eventType", { eventType: "ERROR" }, "message"],
    ["importance", { importance: 2 }, "0"],
    ["channel", { channel: "voicex" }, "webchat"],
    ["channel", { channel: null }, "webchat"],
    ["source", { source: "elsewhere" }, "test"],
    ["hashtags", { hashtags: [{ hash: digits("1") }] }, [digits("1"), digits("2")].join(", ")],
    ["flag", { flag: other }, digits("4")],
    ["masterItem", { masterItem: other }, null],
    ["items", { items: [{ hash: digits("6") }, other] }, digits("6")],
    ["location", { location: other }, null],
    ["createdAt", { createdAt: "2026-03-02T10:04:30.123456Z" }, "2026-03-01T10:04:30.123456Z"],
    ["createdAt", { createdAt: "2025-03-01T10:04:30.123456Z" }, "2026-03-01T10:04:30.123456Z"],
    ["createdAt", { createdAt: "2026-03-01T10:04:30.123457Z" }, "2026-03-01T10:04:30.123456Z"],
    ["content", { content: "Room 104 costs 90 euro. And more." }, "Room 104 costs 90 euro."],
    ["content", { content: "Room 104 costs 10 euro." }, "Room 104 costs 90 euro."],
    ["ambient", { ambientText: '{"a": 1}' }, null],
    ["attachments", { attachmentsText: '{"a": 1}' }, "{}"],
  ];
  it.each(cases)("%s", (field, change, was) => {
    const kind = ["content", "attachments", "ambient"].includes(field) ? "content" : "field";
    expect(found(tampered(change))).toMatchObject([
      { kind, sequence: 4, was, detail: { id: "chain.altered", values: { field } } },
    ]);
  });

  it("the digest of its content", () => {
    const digest = parseMessage(fromBase64(conversation()[3]?.integrity.preimage ?? "")).contentDigest;
    expect(found(tampered({}, digits("0")))).toMatchObject([
      { kind: "field", was: digest, is: digits("0"), detail: { values: { field: "contentDigest" } } },
    ]);
  });
  it("its link", () => {
    const was = conversation()[2]?.hash;
    expect(found(tampered({ prevHash: digits("0") }))).toMatchObject([
      { kind: "field", was, detail: { values: { field: "prevHash" } } },
    ]);
  });
  it("its number, besides the hole that it left", () => {
    const moved = tampered({ sequence: 40 }).toSorted((a, b) => a.sequence - b.sequence);
    expect(found(moved)).toMatchObject([
      { kind: "gap", sequence: 5 },
      { kind: "field", sequence: 40, was: "4", detail: { values: { field: "sequence" } } },
      { kind: "gap", sequence: 40 },
    ]);
  });
  it("its hash, by the message behind it", () => {
    const all = conversation();
    const messages = all.map((m) => (m.sequence === 4 ? { ...m, hash: digits("0") } : m));
    expect(found(messages)).toMatchObject([
      { kind: "field", sequence: 4, was: all[3]?.hash, is: digits("0"), detail: { id: "chain.altered.hash" } },
    ]);
  });
});

describe("what cannot be told", () => {
  it("stays a mismatch, and is said to be open", () => {
    expect(found(tampered({ role: "x", source: "y" }))).toMatchObject([
      { kind: "hash", sequence: 4, detail: { id: "chain.altered.unknown" } },
    ]);
    expect(found(tampered({ content: "Something else altogether." }))).toMatchObject([
      { kind: "content", sequence: 4, detail: { id: "chain.altered.content" } },
    ]);
  });
});

it("what is written is what was read", () => {
  const m = conversation()[3] ?? write();
  const content = fromBase64(m.integrity.contentPreimage ?? "");
  expect(toBase64(encodeContent(parseContent(content)))).toBe(m.integrity.contentPreimage);
  expect(sha256(fromBase64(m.integrity.preimage))).toBe(m.hash);
});
