// Checks what the API says of a message's place in the signed tree. Pure: no network, no clock.
import type { ChainMessage, Finding } from "../chain/check";
import type { Said } from "../words/said";
import type { Head } from "./checkpoint";
import { type Climbed, checkInclusion, RootError } from "./merkle";
import { SealError } from "./note";
import { parseProof } from "./proof";

/** The heads of checkpoints that hold, by their notes. */
export type Heads = ReadonlyMap<string, Head>;

/** proved: it is in the tree, at index. unproved: the server gives no proof. wrong: the findings say what. */
export type SealCheck = { state: "proved" | "unproved" | "wrong"; index: number | null; findings: Finding[] };

/**
 * Checks a message's proof. hash is the one that was computed here, and not the one that is stated; without it, the
 * message's own bytes cannot be read, which is found elsewhere. before: as for checkInclusion.
 */
export function checkSeal(m: ChainMessage, hash: string | null, heads: Heads, before?: Climbed): SealCheck {
  const { proof, leafIndex } = m.integrity;
  if (proof === null) return { state: "unproved", index: null, findings: [] };
  try {
    const { index, path, checkpoint } = parseProof(proof, before);
    if (leafIndex !== null && leafIndex !== index) {
      throw new SealError({ id: "chain.proof.place", values: { index, leafIndex } });
    }
    const head = heads.get(checkpoint);
    if (!head) throw new SealError({ id: "chain.proof.checkpoint" });
    if (hash === null) return { state: "wrong", index, findings: [] };
    checkInclusion({ session: m.session.hash, sequence: m.sequence, hash }, index, path, head, before);
    return { state: "proved", index, findings: [] };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const roots = error instanceof RootError ? { computed: error.computed, stated: error.stated } : {};
    return { state: "wrong", index: null, findings: [finding(m, error.said, roots)] };
  }
}

/** What is found of a message that still has no proof when it must have one. */
export function missingProof(m: { session: string; sequence: number; hash: string }, says: Said): Finding {
  return { kind: "proof", ...m, detail: says };
}

/** A proof that does not hold, of a message. */
export function finding(m: ChainMessage, detail: Said, roots: Partial<Finding> = {}): Finding {
  return { kind: "proof", session: m.session.hash, sequence: m.sequence, hash: m.hash, detail, ...roots };
}
