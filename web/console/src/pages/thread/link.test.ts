import { describe, expect, it } from "vitest";
import type { Recomputed } from "../../chain/browser";
import { CheckedHashes, runsOf } from "../../chain/hashes";
import type { RowCheck } from "../../chain/rows";
import { SessionCheck, type SessionProgress } from "../../chain/session";
import { chain, digits } from "../../chain/testing";
import { nothingChecked, type Verification } from "../../chain/verify";
import type { Standing } from "../../seal/anchor";
import { goneOf, linkState, sameState } from "./link";

const session = digits("5");
const messages = chain(3);
const standing: Standing = {
  before: null,
  checkpoint: { size: 3, root: "", note: "", signature: "valid" },
  problem: null,
};

// Three messages whose chain was checked, all of them in the tree.
function checked(change: Partial<Recomputed> = {}): Verification {
  const progress = new SessionCheck(session, 3, messages[2]?.hash ?? "").page(messages, null);
  const hashes = new CheckedHashes();
  for (const run of runsOf(messages)) hashes.add(run);
  const sessions = new Map([[session, { ...progress, unproved: [] }]]);
  const browser = { ...nothingChecked.browser, standing, sessions, hashes: new Map([[session, hashes]]), ...change };
  return { ...nothingChecked, browser };
}

const row = (n: number, change: object = {}) => {
  const [m = messages[0]] = messages.slice(n - 1);
  if (!m) throw new Error("no message");
  return { ...m, integrity: { state: "WITNESSED" as const }, ...change };
};
const good: RowCheck = { findings: [], linked: false, proved: false };

describe("a message that is shown", () => {
  it("is proved if its very hash was checked, and what is shown is what that covers", () => {
    expect(linkState(checked(), row(2), good)).toMatchObject({ kind: "proved", state: "SEALED", findings: [] });
  });

  it("is only chained if it has no proof, and a mismatch if what is wrong with it was only counted", () => {
    const known = checked().browser.sessions.get(session) as SessionProgress;
    const but = (change: Partial<SessionProgress>) =>
      checked({ sessions: new Map([[session, { ...known, ...change }]]) });
    expect(linkState(but({ unproved: [2, 3] }), row(2), good)).toMatchObject({ kind: "chained", state: "CHAINED" });
    expect(linkState(but({ unproved: [3, 3] }), row(2), good)).toMatchObject({ kind: "proved" });
    expect(linkState(but({ unlisted: [2, 2] }), row(2), good)).toMatchObject({ kind: "mismatch", findings: [] });
  });

  it("is not called erased by the check of the chain before that has seen its erasure", () => {
    const known = checked().browser.sessions.get(session) as SessionProgress;
    const seen = (gone: number[]) => checked({ sessions: new Map([[session, { ...known, gone }]]) });
    const erased = row(2, { content: null, integrity: { state: "ERASED" } });
    expect(linkState(seen([2, 2]), erased, good).kind).toBe("unchecked");
    expect(linkState(seen([2, 2]), erased, { ...good, linked: true, proved: true }).kind).toBe("unchecked");
    expect(linkState(seen([3, 3]), erased, good)).toMatchObject({ kind: "proved", state: "ERASED" });
    expect(linkState(seen([2, 2]), row(2), good).kind).toBe("proved"); // its content is there
  });

  it("has a content that is gone called erased only where its erasure was recomputed here", () => {
    const erased = row(2, { content: null, integrity: { state: "ERASED" } });
    const at = { session, sequence: 2, hash: erased.hash };
    const finding = (id: "chain.erased" | "chain.erased.other" | "chain.another") => ({
      ...good,
      findings: [{ kind: "content" as const, ...at, detail: { id } }],
    });
    const gone = (check: RowCheck | undefined, by: string | undefined) =>
      goneOf(linkState(checked(), erased, check), by);
    const by = digits("e");
    expect(gone(good, by)).toBe("erased");
    expect([gone(undefined, by), gone(undefined, undefined)]).toEqual(["claimed", "unrecorded"]);
    expect([gone(finding("chain.erased"), by), gone(finding("chain.erased.other"), by)]).toEqual([
      "unrecorded",
      "unrecorded",
    ]);
    expect(gone(finding("chain.another"), by)).toBe("claimed"); // wrong in another way, which says nothing of that
  });

  it("is not checked as long as nobody looked at what is shown", () => {
    expect(linkState(checked(), row(2), undefined)).toMatchObject({ kind: "unchecked", state: "WITNESSED" });
  });

  it("is a mismatch if another hash was checked under its number, though it fits itself", () => {
    expect(linkState(checked(), row(2, { hash: digits("f") }), { ...good, linked: true, proved: true })).toMatchObject({
      kind: "mismatch",
      findings: [{ kind: "hash", sequence: 2, computed: messages[1]?.hash, stated: digits("f") }],
    });
  });

  it("is a mismatch if what is shown is not what its hash covers", () => {
    const at = { session, sequence: 2, hash: messages[1]?.hash ?? "" };
    const finding = { kind: "content" as const, ...at, detail: { id: "chain.content.other" as const } };
    expect(linkState(checked(), row(2), { ...good, findings: [finding] })).toMatchObject({
      kind: "mismatch",
      findings: [finding],
    });
  });

  it("counts by itself where the check of the chain has not been", () => {
    const beyond = row(2, { sequence: 9 });
    expect(linkState(checked(), beyond, good).kind).toBe("unchecked");
    expect(linkState(checked(), beyond, { ...good, linked: true }).kind).toBe("chained");
    expect(linkState(checked(), beyond, { ...good, proved: true }).kind).toBe("proved");
  });

  it("is proved by nothing once the seal is not believed", () => {
    const doubted = checked({ standing: { ...standing, checkpoint: null } });
    expect(linkState(doubted, row(2), good).kind).toBe("chained");
    expect(linkState(doubted, row(2, { sequence: 9 }), { ...good, proved: true }).kind).toBe("unchecked");
  });

  it("is known the same, unless its kind, its state or what is wrong with it differ", () => {
    const state = linkState(checked(), row(2), good);
    expect(sameState(state, linkState(checked(), row(2), good))).toBe(true);
    expect(sameState(state, linkState(checked(), row(2), undefined))).toBe(false);
    expect(sameState(state, { ...state, state: "WITNESSED" })).toBe(false);
    const wrong = linkState(checked(), row(2, { hash: digits("f") }), good);
    expect(sameState(wrong, { ...wrong, findings: [...wrong.findings] })).toBe(true);
    expect(sameState(wrong, { ...wrong, findings: [] })).toBe(false);
    const said = { session, sequence: 2, messageHash: null, reason: "HASH_MISMATCH" as const, detail: "" };
    expect(sameState(state, { ...state, server: [said] })).toBe(false);
  });
});
