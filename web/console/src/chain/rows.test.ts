import { describe, expect, it } from "vitest";
import { checkRows } from "./rows";
import { chain, digits, emptied, erasureOf, write } from "./testing";

const messages = chain(4);
const kinds = (shown: typeof messages, given = messages, erasure: (typeof messages)[number] | null = null) =>
  checkRows(
    shown,
    given.map((m) => ({ ...m, recorded: { erasure: m.content === null ? erasure : null } })),
    null,
  ).map((c) => c && [c.linked, ...c.findings.map((f) => f.kind)]);

describe("rows", () => {
  it("that show what their hashes cover are good, and linked where the one before is there", () => {
    expect(kinds(messages)).toEqual([[true], [true], [true], [true]]);
    expect(kinds(messages.slice(2), messages.slice(2))).toEqual([[false], [true]]);
  });

  const other = { hash: digits("e") };
  it.each([
    ["content", { content: "Forged" }, "content"],
    ["no content", { content: null }, "content"],
    ["sender", { owner: other }, "field"],
    ["receivers", { players: [] }, "field"],
    ["coordinator", { masterPlayer: other }, "field"],
    ["role", { role: "admin" }, "field"],
    ["event type", { eventType: "ERROR" }, "field"],
    ["importance", { importance: 2 }, "field"],
    ["channel", { channel: "x" }, "field"],
    ["source", { source: null }, "field"],
    ["time", { createdAt: "2026-03-01T10:00:01Z" }, "field"],
    ["thread", { thread: null }, "field"],
    ["tags", { hashtags: [other] }, "field"],
    ["flag", { flag: other }, "field"],
    ["main item", { masterItem: other }, "field"],
    ["items", { items: [other] }, "field"],
    ["location", { location: other }, "field"],
    ["refs", { refs: [{ type: "CONTEXT", ...other }] }, "refs"],
  ])("that show another %s than the bytes hold are told of", (_, change, kind) => {
    const shown = messages.map((m) => (m.sequence === 3 ? { ...m, ...change } : m));
    expect(kinds(shown)).toEqual([[true], [true], [true, kind], [true]]);
  });

  it("whose content is gone are told of unless that is on the record, whatever the server calls them", () => {
    const gone = messages.map((m) => {
      const of = emptied(m);
      return m.sequence === 3 ? { ...of, integrity: { ...of.integrity, state: "ERASED" } } : m;
    });
    const [, , third = messages[0], fourth = messages[0]] = messages;
    if (!third || !fourth) throw new Error("no message");
    expect(kinds(gone, gone)).toEqual([[true], [true], [true, "content"], [true]]);
    expect(kinds(gone, gone, erasureOf(fourth, { sequence: 5 }))).toEqual([[true], [true], [true, "content"], [true]]);
    expect(kinds(gone, gone, erasureOf(third, { sequence: 5 }))).toEqual([[true], [true], [true], [true]]);
  });

  it("are not vouched for by the bytes of another hash", () => {
    const forged = write({ sequence: 3, prevHash: messages[1]?.hash ?? null, content: "Forged" });
    const shown = messages.map((m) => (m.sequence === 3 ? forged : m));
    expect(kinds(shown)).toEqual([[true], [true], null, [true]]);
  });
});
