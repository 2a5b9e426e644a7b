import { checkSeal, type Heads, missingProof } from "../seal/check";
import { Climbed } from "../seal/merkle";
import type { Said } from "../words/said";
import { type ChainMessage, checkLink, checkMessage, type Finding } from "./check";

/** A message without a proof: only chained, as far as was seen. */
export type Unproved = { sequence: number; hash: string; sealed: boolean };

/** How far the check of one session in this browser has come. Grows with what is wrong or not sealed. */
export type SessionProgress = {
  session: string;
  checked: number;
  /** The number of the last message checked; 0 before the first. */
  upTo: number;
  /** How many messages the session said it has when the check began. */
  total: number;
  erased: number;
  /** How many messages are in the signed tree, by a proof that was checked here. */
  proved: number;
  /** The rest, but for those that findings name. sealed: the server says that it is in the tree, all the same. */
  unproved: Unproved[];
  /** The number of the last message of which the server says that a witness cosigned it; 0 if it says so of none. */
  witnessedUpTo: number;
  findings: Finding[];
};

/** A message that was asked for once more; why: what the server said instead of a proof, if it said anything. */
export type Again = { message: ChainMessage; why: string };

/**
 * Checks one session's chain page by page, in the chain's order. The caller gives every message once. Proofs are checked
 * where there are heads to check them against.
 */
export class SessionCheck {
  private previous: ChainMessage | null = null;
  private sealedUpTo = 0; // the number of the last message that is sealed, or that the server says is
  private lastIndex = -1;
  private readonly climbed = new Climbed();
  private readonly gone = new Map<string, number>(); // erased messages whose erasure has not been seen, by hash
  private readonly progress: SessionProgress;

  constructor(
    session: string,
    length: number,
    private readonly head: string,
  ) {
    this.progress = {
      session,
      checked: 0,
      upTo: 0,
      total: length,
      erased: 0,
      proved: 0,
      unproved: [],
      witnessedUpTo: 0,
      findings: [],
    };
  }

  /** Checks the next messages and gives the state after them. Without heads, no proof is looked at. */
  page(messages: readonly ChainMessage[], heads: Heads | null): SessionProgress {
    for (const message of messages) {
      const { hash, findings, erased } = checkMessage(message);
      this.progress.findings.push(...findings, ...checkLink(this.previous, message));
      this.seal(message, hash, heads);
      if (erased) this.gone.set(message.hash, message.sequence);
      if (message.eventType === "ERASURE" && findings.length === 0 && !erased) {
        for (const ref of message.refs) if (ref.type === "CONTEXT") this.gone.delete(ref.hash);
      }
      this.progress.checked++;
      this.progress.upTo = message.sequence;
      if (erased) this.progress.erased++;
      this.previous = message;
    }
    return this.snapshot();
  }

  private seal(m: ChainMessage, hash: string | null, heads: Heads | null): void {
    const { state, leafIndex } = m.integrity;
    if (state === "WITNESSED") this.progress.witnessedUpTo = m.sequence;
    const unproved = { sequence: m.sequence, hash: m.hash, sealed: leafIndex !== null || /SEALED|WITN/.test(state) };
    if (unproved.sealed) this.sealedUpTo = m.sequence;
    if (!heads) {
      this.progress.unproved.push(unproved);
      return;
    }
    const found = checkSeal(m, hash, heads, this.climbed);
    this.progress.findings.push(...found.findings);
    if (found.state === "unproved") this.progress.unproved.push(unproved);
    if (found.state !== "proved" || found.index === null) return;
    this.progress.proved++;
    this.sealedUpTo = m.sequence;
    if (found.index <= this.lastIndex) {
      const says: Said = { id: "chain.proof.order", values: { place: found.index } };
      this.progress.findings.push(missingProof(at(m), says));
    }
    this.lastIndex = found.index;
  }

  /**
   * Checks that the session ends where it said it would, and that what was erased was erased on the record, and gives
   * the final state but for suspects(). Messages appended while the check ran are no break.
   */
  end(): SessionProgress {
    const { session, total, findings } = this.progress;
    const last = this.previous?.sequence ?? 0;
    const where = { session, sequence: total, hash: this.head, kind: "tail" as const };
    if (last < total) {
      findings.push({ ...where, detail: { id: "chain.tail", values: { total, last } } });
    } else if (last === total && this.previous && this.previous.hash !== this.head) {
      const detail: Said = { id: "chain.tail.head" };
      findings.push({ ...where, detail, computed: this.previous.hash, stated: this.head });
    }
    for (const [hash, sequence] of this.gone) {
      const detail: Said = { id: "chain.erased" };
      findings.push({ kind: "content", session, sequence, hash, detail });
    }
    this.gone.clear();
    return this.snapshot();
  }

  /**
   * The messages that have no proof and must have one: the server says that they are sealed, or a later message of the
   * session is. They may have been sealed since they were asked for, so they are asked for again.
   */
  suspects(): string[] {
    return this.progress.unproved.filter((u) => u.sealed || u.sequence < this.sealedUpTo).map((u) => u.hash);
  }

  /** Checks suspects that were asked for again: what still has no proof is a finding. */
  again(asked: readonly Again[], heads: Heads): SessionProgress {
    for (const { message: m, why } of asked) {
      const before = this.progress.unproved.find((u) => u.hash === m.hash);
      if (!before) continue;
      this.progress.unproved = this.progress.unproved.filter((u) => u !== before);
      const found = checkSeal(m, checkMessage(m).hash, heads);
      this.progress.findings.push(...found.findings);
      if (found.state === "proved") this.progress.proved++;
      if (found.state !== "unproved") continue;
      const sealed = m.integrity.leafIndex !== null || before.sealed;
      const says: Said = { id: sealed ? "chain.proof.withheld" : "chain.proof.absent" };
      this.progress.findings.push(missingProof(at(m), why ? { id: "chain.said", values: { says, why } } : says));
    }
    return this.snapshot();
  }

  private snapshot(): SessionProgress {
    return { ...this.progress, findings: [...this.progress.findings], unproved: [...this.progress.unproved] };
  }
}

const at = (m: ChainMessage) => ({ session: m.session.hash, sequence: m.sequence, hash: m.hash });
