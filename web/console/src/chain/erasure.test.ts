import { describe, expect, it } from "vitest";
import { checkMessage } from "./check";
import { checkShown, erasedBy } from "./erasure";
import { digits, emptied, erasureOf, write } from "./testing";

const m = write({ sequence: 2, prevHash: digits("0") });
const gone = emptied(m);
const found = (erasure: Parameters<typeof checkShown>[1], of = gone) =>
  checkShown(of, erasure).findings.map((f) => f.detail.id);

describe("a content that is gone", () => {
  it("is erased if the erasure that the server gives is what its own hash covers, and names it", () => {
    expect(checkShown(gone, erasureOf(m))).toEqual({ hash: m.hash, findings: [], erased: true });
  });

  it.each(["ERASED", "SEALED", "CHAINED"])("is a finding without one, though the server calls it %s", (state) => {
    const said = { ...gone, integrity: { ...gone.integrity, state } };
    expect(found(null, said)).toEqual(["chain.erased"]);
    expect(found(erasureOf(m), said)).toEqual([]);
  });

  const right = erasureOf(m);
  it.each([
    ["is no erasure", erasureOf(m, { eventType: "SYSTEM" })],
    ["names another", erasureOf(m, { refs: [{ type: "CONTEXT", hash: digits("e") }] })],
    ["names it as a record", erasureOf(m, { refs: [{ type: "SECRETARY", hash: m.hash }] })],
    ["is of another session", erasureOf(m, { session: { hash: digits("e") } })],
    ["came before it", erasureOf(m, { sequence: 1 })],
    ["is shown as an erasure, and is none", { ...erasureOf(m, { eventType: "MESSAGE" }), eventType: "ERASURE" }],
    ["is shown to name it, and does not", { ...erasureOf(m, { refs: [] }), refs: right.refs }],
    ["is not what its hash covers", { ...right, hash: digits("e") }],
    ["gives another reason than was written", { ...right, content: "nobody asked" }],
    ["is gone itself", emptied(right)],
  ])("is a finding if what the server gives as its erasure %s", (_, erasure) => {
    expect(found(erasure)).toEqual(["chain.erased.other"]);
  });

  it("is none where it is there: then no erasure is asked for", () => {
    expect(checkShown(m, null)).toEqual(checkMessage(m));
  });
});

it("only an erasure says of messages that they were erased", () => {
  const erasure = erasureOf(m);
  expect(erasedBy(erasure, checkMessage(erasure))).toEqual([m.hash]);
  const other = erasureOf(m, { eventType: "TOOL" });
  expect(erasedBy(other, checkMessage(other))).toEqual([]);
});
