import { describe, expect, it } from "vitest";
import type { Recomputed } from "../../chain/browser";
import { nothingChecked } from "../../chain/verify";
import { chained, explaining, outcomeOf, proofsOutcome } from "./outcome";

const standing = {
  before: null,
  checkpoint: { size: 9, root: "", note: "", signature: "valid" as const },
  problem: null,
};
const wrong = { breaks: [], found: { n: 2, least: false } };
const of = (change: Partial<Recomputed>): Recomputed => ({
  ...nothingChecked.browser,
  total: 9,
  checked: 9,
  proved: 9,
  standing,
  ...change,
});

describe("the lines of this browser", () => {
  it("say that it checks until all is recomputed", () => {
    const p = of({ checked: 5 });
    expect(proofsOutcome(p, false).words).toBe("checking…");
    expect(outcomeOf(chained(p), false).words).toBe("checking…");
    expect(explaining({ ...p, ...wrong }, false)).toBe("");
  });

  it("then say what came of the proofs, and of the chain what it still does", () => {
    const p = of({ ...wrong, walked: true });
    expect(proofsOutcome(p, false)).toMatchObject({ tone: "good", words: "checkpoint of 9 messages" });
    expect(outcomeOf(chained(p), false).words).toBe("2 breaks");
    expect(explaining(p, false)).toBe(", finding out what was altered…");
    expect(explaining(p, true)).toBe("");
    expect(explaining({ ...p, done: true }, false)).toBe("");
  });

  it("tell of proofs what was found of them, cancelled or failed behind them or not", () => {
    const p = of({ ...wrong, walked: true, foundProofs: { n: 1, least: false } });
    expect(proofsOutcome(p, false).words).toBe("1 break");
    expect(proofsOutcome(of({ walked: true, error: "lost" }), false).tone).toBe("good");
    expect(proofsOutcome(of({ walked: true }), true).tone).toBe("good");
    expect(proofsOutcome(of({ checked: 5, error: "lost" }), false).words).toBe("not finished: lost");
    expect(proofsOutcome(of({ checked: 5 }), true).words).toBe("cancelled");
  });
});
