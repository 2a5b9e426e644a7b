import { describe, expect, it } from "vitest";
import { fromBase64, toBase64 } from "./bytes";
import { type ChainMessage, checkLink, checkMessage, microseconds, sameJSON } from "./check";
import { FormatError, parseContent, parseMessage } from "./preimage";
import { digits, write } from "./testing";

const other = digits("f");

describe("a message by itself", () => {
  it("passes when nothing was changed", () => {
    const m = write();
    expect(checkMessage(m)).toEqual({ hash: m.hash, findings: [], erased: false });
    const full = write({
      masterPlayer: { hash: other },
      flag: { hash: other },
      masterItem: { hash: other },
      location: { hash: other },
      hashtags: [{ hash: other }, { hash: digits("e") }],
      items: [{ hash: digits("1") }],
      refs: [
        { type: "CONTEXT", hash: other },
        { type: "ACCOUNTANT", hash: digits("2") },
      ],
      importance: 2,
      channel: "",
      ambientText: '{"zone": "Europe/Madrid"}',
      attachmentsText: '{"price": 1.50, "list": [1, 2]}',
    });
    expect(checkMessage(full).findings).toEqual([]);
  });

  const changes: [string, Partial<ChainMessage>, string][] = [
    ["hash", { hash: other }, "hash"],
    ["previous", { prevHash: other }, "field"],
    ["sequence", { sequence: 2 }, "field"],
    ["session", { session: { hash: other } }, "field"],
    ["thread", { thread: { hash: other } }, "field"],
    ["no thread", { thread: null }, "field"],
    ["owner", { owner: { hash: other } }, "field"],
    ["receivers", { players: [] }, "field"],
    ["coordinator", { masterPlayer: { hash: other } }, "field"],
    ["role", { role: "admin" }, "field"],
    ["no role", { role: null }, "field"],
    ["event type", { eventType: "ERROR" }, "field"],
    ["importance", { importance: 1 }, "field"],
    ["channel", { channel: "" }, "field"],
    ["source", { source: null }, "field"],
    ["content", { content: "Hello" }, "content"],
    ["attachments", { attachments: { a: 1 } }, "content"],
    ["ambient", { ambient: {} }, "content"],
    ["tags", { hashtags: [{ hash: other }] }, "field"],
    ["flag", { flag: { hash: other } }, "field"],
    ["main item", { masterItem: { hash: other } }, "field"],
    ["items", { items: [{ hash: other }] }, "field"],
    ["location", { location: { hash: other } }, "field"],
    ["refs", { refs: [{ type: "CONTEXT", hash: other }] }, "refs"],
    ["time", { createdAt: "2026-03-01T10:00:00.000002Z" }, "field"],
  ];
  it.each(changes)("finds a changed %s", (_, change, kind) => {
    const { findings } = checkMessage({ ...write(), ...change });
    expect(findings.map((f) => f.kind)).toEqual([kind]);
  });

  it("finds content whose bytes do not give the digest, even if shown as they are", () => {
    const m = write();
    const forged = write({ content: "Forged" });
    const mixed = {
      ...m,
      content: "Forged",
      integrity: { ...m.integrity, contentPreimage: forged.integrity.contentPreimage },
    };
    expect(checkMessage(mixed).findings.map((f) => f.kind)).toEqual(["content"]);
  });

  it("finds a changed byte of the preimage, and bytes that cannot be read", () => {
    const m = write();
    const bytes = fromBase64(m.integrity.preimage);
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    const flipped = checkMessage({ ...m, integrity: { ...m.integrity, preimage: toBase64(bytes) } });
    expect(flipped.findings.map((f) => f.kind)).toEqual(["hash", "field"]);
    const cut = checkMessage({ ...m, integrity: { ...m.integrity, preimage: toBase64(bytes.slice(0, -1)) } });
    expect(cut.findings.map((f) => f.kind)).toEqual(["hash", "format"]);
  });

  it("takes an erased message for erased, and withheld bytes for a finding", () => {
    const m = write();
    const integrity = { ...m.integrity, contentPreimage: null };
    expect(checkMessage({ ...m, content: null, integrity })).toEqual({ hash: m.hash, findings: [], erased: true });
    expect(checkMessage({ ...m, integrity }).findings.map((f) => f.kind)).toEqual(["content"]);
  });
});

describe("a link", () => {
  const first = write();
  const second = write({ sequence: 2, prevHash: first.hash });
  it("holds from message to message", () => {
    expect(checkLink(null, first)).toEqual([]);
    expect(checkLink(first, second)).toEqual([]);
  });
  it("is broken by another predecessor, a gap or a repetition", () => {
    expect(checkLink(first, { ...second, prevHash: other })).toMatchObject([{ kind: "link", stated: other }]);
    expect(checkLink(null, { ...first, prevHash: other })).toMatchObject([{ kind: "link", computed: "–" }]);
    expect(checkLink(first, { ...second, sequence: 3 })).toMatchObject([
      { kind: "gap", detail: { id: "chain.gap", values: { from: 2 } } },
    ]);
    expect(checkLink(null, { ...second, sequence: 4 })).toMatchObject([
      { detail: { id: "chain.gaps", values: { from: 1, to: 3 } } },
    ]);
    expect(checkLink(second, second)).toMatchObject([{ kind: "gap" }]);
  });
});

describe("the format", () => {
  it("gives every field back", () => {
    const m = write({ sequence: 2 ** 40, createdAt: "1931-04-14T00:00:00.5Z" });
    const p = parseMessage(fromBase64(m.integrity.preimage));
    expect(p).toMatchObject({
      sequence: 2n ** 40n,
      role: "user",
      channel: null,
      eventType: "message",
      players: [digits("b")],
    });
    expect(p.createdAt).toBe(-1_221_868_799_500_000n);
    expect(parseContent(fromBase64(m.integrity.contentPreimage ?? ""))).toEqual({
      salt: "09".repeat(16),
      content: "Hello, señora 🧭",
      attachments: "{}",
      ambient: null,
    });
  });
  it("refuses another label, and bytes too many", () => {
    const bytes = fromBase64(write().integrity.preimage);
    expect(() => parseContent(bytes)).toThrow(FormatError);
    expect(() => parseMessage(new Uint8Array([...bytes, 0]))).toThrow('chain.bytes.more {"n":1}');
  });
  it("keeps a byte order mark and tells NFC from NFD", () => {
    for (const content of ["\uFEFFx", "é", "e\u0301"]) {
      expect(checkMessage(write({ content })).findings).toEqual([]);
    }
    expect(checkMessage({ ...write({ content: "é" }), content: "e\u0301" }).findings).toHaveLength(1);
  });
});

it("microseconds reads every number of decimals, before 1970 too", () => {
  expect(microseconds("1970-01-01T00:00:01Z")).toBe(1_000_000n);
  expect(microseconds("2026-03-01T10:00:00.1Z")).toBe(1_772_359_200_100_000n);
  expect(microseconds("1969-12-31T23:59:59.999999Z")).toBe(-1n);
  expect(microseconds("0001-01-01T00:00:00Z")).toBe(-62_135_596_800_000_000n);
  expect(microseconds("2026-03-01T10:00:00+01:00")).toBeNull();
  expect(microseconds("yesterday")).toBeNull();
});

it("sameJSON looks past the order of keys, and at nothing else", () => {
  expect(sameJSON({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
  expect(sameJSON([1, 2], [2, 1])).toBe(false);
  expect(sameJSON({}, [])).toBe(false);
  expect(sameJSON({ a: undefined }, { b: undefined })).toBe(false);
  expect(sameJSON(null, {})).toBe(false);
});
