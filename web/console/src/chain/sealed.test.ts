import { describe, expect, it } from "vitest";
import type { Heads } from "../seal/check";
import { TestTree } from "../seal/testing";
import { say } from "../words";
import type { ChainMessage } from "./check";
import { SessionCheck } from "./session";
import { chain, digits, write } from "./testing";

const session = digits("5");
const note = "a note\n\n— of somebody\n";

/** A session in a tree of its own, whose messages have their proofs; a newer message may be appended to it. */
function sealed(messages: ChainMessage[], upTo = messages.length): { messages: ChainMessage[]; heads: Heads } {
  const tree = new TestTree(messages.map((m) => ({ session: m.session.hash, sequence: m.sequence, hash: m.hash })));
  const proved = messages.map((m, index) => {
    if (index >= upTo) return m;
    const integrity = { ...m.integrity, state: "SEALED", leafIndex: index, proof: tree.proof(index, upTo, note) };
    return { ...m, integrity };
  });
  return { messages: proved, heads: new Map([[note, { size: upTo, root: tree.root(upTo) }]]) };
}

function run(messages: ChainMessage[], heads: Heads | null) {
  const check = new SessionCheck(session, messages.length, messages.at(-1)?.hash ?? "");
  check.page(messages.slice(0, 2), heads);
  check.page(messages.slice(2), heads);
  return { ...check.end(), suspects: check.suspects(), check };
}

const hidden = (m: ChainMessage): ChainMessage => ({
  ...m,
  integrity: { ...m.integrity, state: "CHAINED", leafIndex: null, proof: null },
});
const put = (all: ChainMessage[], index: number, change: (m: ChainMessage) => ChainMessage) =>
  all.map((m, i) => (i === index ? change(m) : m));

describe("a sealed session", () => {
  const { messages, heads } = sealed(chain(5));

  it("is proved message by message", () => {
    expect(run(messages, heads)).toMatchObject({ proved: 5, unproved: [], findings: [], suspects: [] });
  });
  it("has a tail that is only chained, which is no finding", () => {
    const partly = sealed(chain(5), 3);
    expect(run(partly.messages, partly.heads)).toMatchObject({
      proved: 3,
      unproved: [4, 5],
      findings: [],
      suspects: [],
    });
  });
  it("is only chained where no checkpoint can be believed", () => {
    expect(run(messages, null)).toMatchObject({ proved: 0, checked: 5, findings: [] });
    expect(run(messages, null).unproved).toEqual([1, 5]);
  });
  it("knows up to where the server says that it was witnessed", () => {
    const witnessed = put(messages, 2, (m) => ({ ...m, integrity: { ...m.integrity, state: "WITNESSED" } }));
    expect(run(witnessed, heads).witnessedUpTo).toBe(3);
  });

  const proof = (index: number) => messages[index]?.integrity.proof ?? "";
  const changes: [string, (m: ChainMessage) => ChainMessage, string][] = [
    [
      "another message's proof",
      (m) => ({ ...m, integrity: { ...m.integrity, leafIndex: 3, proof: proof(3) } }),
      "chain.path.root",
    ],
    ["a proof for another place", (m) => ({ ...m, integrity: { ...m.integrity, leafIndex: 4 } }), "chain.proof.place"],
    [
      "a proof for a checkpoint that does not hold",
      (m) => ({ ...m, integrity: { ...m.integrity, proof: proof(2).replace("a note", "b note") } }),
      "chain.proof.checkpoint",
    ],
    ["a proof that is none", (m) => ({ ...m, integrity: { ...m.integrity, proof: "yes" } }), "chain.proof.unread"],
  ];
  it.each(changes)("names %s", (_, change, words) => {
    const { findings, proved } = run(put(messages, 2, change), heads);
    expect(proved).toBe(4);
    expect(findings[0]).toMatchObject({ kind: "proof", sequence: 3, detail: { id: words } });
  });

  it("takes the hash that it computed, not the one that is stated", () => {
    const rewritten = write({ sequence: 3, prevHash: messages[1]?.hash ?? null, content: "Forged" });
    const forged = put(messages, 2, (m) => ({
      ...rewritten,
      hash: m.hash,
      integrity: { ...m.integrity, preimage: rewritten.integrity.preimage },
    }));
    const kinds = run(forged, heads).findings.map((f) => `${f.kind} ${f.sequence}`);
    expect(kinds).toContain("hash 3");
    expect(kinds).toContain("proof 3");
  });

  it("names two messages at places that do not ascend", () => {
    const tree = chain(3);
    const [a, b, c] = tree as [ChainMessage, ChainMessage, ChainMessage];
    const swapped = sealed([b, a, c]);
    const inOrder = [swapped.messages[1], swapped.messages[0], swapped.messages[2]] as ChainMessage[];
    expect(run(inOrder, swapped.heads).findings).toMatchObject([{ kind: "proof", sequence: 2 }]);
  });
});

describe("a message without the proof that it must have", () => {
  const { messages, heads } = sealed(chain(5));
  const second = messages[1] as ChainMessage;
  const again = (all: ChainMessage[], answer: ChainMessage | null, why = "") => {
    const { check, suspects } = run(all, heads);
    expect(suspects).toEqual([2]);
    const progress = check.again([{ sequence: 2, hash: second.hash, message: answer, why }], heads);
    expect(check.suspects()).toEqual([]);
    return progress;
  };

  it("is asked for again, and well if it was sealed in the meantime", () => {
    expect(again(put(messages, 1, hidden), second)).toMatchObject({ proved: 5, unproved: [], findings: [] });
  });
  it("is a finding if later ones of its session are sealed", () => {
    const { findings, proved } = again(put(messages, 1, hidden), hidden(second));
    expect(findings).toMatchObject([{ kind: "proof", sequence: 2, detail: { id: "chain.proof.absent" } }]);
    expect(proved).toBe(4);
  });
  it.each([
    ["none", null],
    ["another", messages[2] as ChainMessage],
    ["one of its number with another hash", { ...second, hash: digits("f") }],
  ])("is a finding if the server gives %s in its place", (_, answer) => {
    const { findings, found, proved } = again(put(messages, 1, hidden), answer);
    expect(findings).toMatchObject([{ kind: "proof", sequence: 2, hash: second.hash }]);
    expect([found, proved]).toEqual([{ chain: 0, proofs: 1 }, 4]);
  });
  it("is a finding if the server says that it is sealed, with its words", () => {
    const bare = (m: ChainMessage) => ({ ...m, integrity: { ...m.integrity, proof: null } });
    const { findings } = again(put(messages, 1, bare), bare(second), "internal error");
    expect(findings[0] && say(findings[0].detail)).toBe(
      "The server says that it is sealed, and gives no proof. It says: internal error",
    );
  });
  it("is looked for where the server says of later ones only that they are sealed", () => {
    const bare = (m: ChainMessage) => ({ ...m, integrity: { ...m.integrity, proof: null } });
    const { suspects } = run(put(messages.map(bare), 1, hidden), heads);
    expect(suspects).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("a content that is gone", () => {
  const whole = chain(2);
  const first = whole[0] as ChainMessage;
  const gone = { ...first, content: null, attachments: {}, integrity: { ...first.integrity, contentPreimage: null } };
  const erasure = (change: Parameters<typeof write>[0] = {}) =>
    write({
      sequence: 3,
      prevHash: whole[1]?.hash ?? null,
      eventType: "ERASURE",
      content: "asked for it",
      refs: [{ type: "CONTEXT", hash: first.hash }],
      ...change,
    });
  const erased = (by: ChainMessage) => run([gone, whole[1] as ChainMessage, by], new Map());

  it("is erased if a later ERASURE message of the session names it", () => {
    expect(erased(erasure())).toMatchObject({ erased: 1, gone: [], findings: [] });
  });
  it("is not yet called erased before that was seen", () => {
    const check = new SessionCheck(session, 3, erasure().hash);
    expect(check.page([gone, whole[1] as ChainMessage], null)).toMatchObject({ erased: 0, gone: [1, 1], findings: [] });
    expect(check.page([erasure()], null)).toMatchObject({ erased: 1, gone: [], findings: [] });
  });
  const wrong: [string, ChainMessage][] = [
    ["nothing says so", erasure({ eventType: "MESSAGE" })],
    ["it is named as another kind of ref", erasure({ refs: [{ type: "SECRETARY", hash: first.hash }] })],
    ["another one is named", erasure({ refs: [{ type: "CONTEXT", hash: digits("0") }] })],
  ];
  it.each(wrong)("is a finding if %s", (_, by) => {
    expect(erased(by)).toMatchObject({
      erased: 0,
      gone: [],
      findings: [{ kind: "content", sequence: 1, hash: first.hash }],
    });
  });
  it("is a finding if the record of it was tampered with", () => {
    const found = erased({ ...erasure(), content: "another reason" }).findings;
    expect(found.map((f) => `${f.kind} ${f.sequence}`)).toEqual(["content 3", "content 1"]);
  });
});
