import { checkSeal, type Heads, missingProof } from "../seal/check";
import { Climbed } from "../seal/merkle";
import type { Said } from "../words/said";
import { type Altered, alteredOf, type Broken, neighbour, Seen, sizeOf } from "./altered";
import { type ChainMessage, checkLink, checkMessage, type Finding } from "./check";
import { erasedBy } from "./erasure";
import type { Occurring } from "./fields";
import { firstOf, Numbers, type Runs } from "./numbers";
import type { Held } from "./stretch";

/** How far the check of one session in this browser has come. However much is wrong or not sealed, it stays small. */
export type SessionProgress = {
  session: string;
  checked: number;
  /** The number of the last message checked; 0 before the first. */
  upTo: number;
  /** How many messages the session said it has when the check began. */
  total: number;
  /** How many contents were erased, on the record as far as it was read. */
  erased: number;
  /** The numbers of the messages whose content is gone, and whose erasure has not been seen yet: at the end, findings. */
  gone: Runs;
  /** How many messages are in the signed tree, by a proof that was checked here. */
  proved: number;
  /** The numbers of the rest, but for those that findings name. */
  unproved: Runs;
  /** The number of the last message of which the server says that a witness cosigned it; 0 if it says so of none. */
  witnessedUpTo: number;
  /** How much was found wrong: with the chain, and with proofs. */
  found: { chain: number; proofs: number };
  /** As much of it as there was room for. */
  findings: Finding[];
  /** The numbers of the messages that the rest of it is about. */
  unlisted: Runs;
};

/**
 * A suspect that was asked for once more, and its hash as it was checked. message: null if the server gave none of that
 * hash; why: what it said instead of a proof, if it said anything.
 */
export type Again = { sequence: number; hash: string; message: ChainMessage | null; why: string };

const mostFindings = 200; // of a check that are told one by one; the others are counted
const mostKept = 20_000_000; // characters of messages, and of those beside them, of which it is to be found out what was altered
const refSize = 80; // characters of a ref that is kept
const mostSuspects = 100; // that are asked for again at a time

/** How much of all the sessions of a check there is still room for: findings to tell, and characters to keep. */
export class Room {
  constructor(
    public left = mostFindings,
    public characters = mostKept,
  ) {}
}

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
  private readonly broken: (Broken & { inTree: boolean })[] = [];
  private open: Broken | null = null; // that of the last message: the next one is not there yet
  private readonly unrecorded = new Numbers(); // their numbers
  private readonly unproved = new Numbers();
  private readonly said = new Numbers(); // those of them of which the server says that they are in the tree
  private readonly unlisted = new Numbers();
  private readonly progress: Omit<SessionProgress, "unproved" | "unlisted" | "gone">;

  constructor(
    session: string,
    length: number,
    private readonly head: string,
    /** What occurs in this and other sessions of the same check. */
    private readonly seen = new Seen(),
    private readonly room = new Room(),
  ) {
    this.progress = {
      session,
      checked: 0,
      upTo: 0,
      total: length,
      erased: 0,
      proved: 0,
      witnessedUpTo: 0,
      found: { chain: 0, proofs: 0 },
      findings: [],
    };
  }

  /** Checks the next messages and gives the state after them. Without heads, no proof is looked at. */
  page(messages: readonly ChainMessage[], heads: Heads | null): SessionProgress {
    for (const message of messages) {
      const checked = checkMessage(message);
      const { hash, findings, erased } = checked;
      const listed = this.room.left > 0;
      this.find(...findings, ...checkLink(this.previous, message));
      const inTree = this.seal(message, hash, heads);
      this.note(message, listed ? findings : [], inTree);
      if (erased) this.lacks(message.hash, message.sequence);
      for (const of of erasedBy(message, checked)) this.record(of);
      this.progress.checked++;
      this.progress.upTo = message.sequence;
      this.previous = message;
    }
    return this.snapshot();
  }

  /**
   * Takes a stretch that was checked by itself, and gives the state behind it; null if it does not go on where the last
   * message ended, or its places in the tree do not: then its messages are to be checked one by one.
   */
  stretch(held: Held, occurring: Occurring): SessionProgress | null {
    if (held.first.session.hash !== this.progress.session || checkLink(this.previous, held.first).length > 0)
      return null;
    if (held.places && held.places[0] <= this.lastIndex) return null;
    const { progress } = this;
    this.follow(held.first);
    this.seen.know(occurring);
    for (const hash of held.erasures) this.record(hash);
    for (const [hash, sequence] of held.gone) this.lacks(hash, sequence);
    progress.checked += held.count;
    progress.upTo = held.last.sequence;
    progress.erased += held.erased - held.gone.length;
    progress.proved += held.proved;
    this.unproved.addAll(held.unproved);
    this.said.addAll(held.said);
    progress.witnessedUpTo = Math.max(progress.witnessedUpTo, held.witnessedUpTo);
    this.sealedUpTo = Math.max(this.sealedUpTo, held.provedUpTo, held.said.at(-1) ?? 0);
    this.lastIndex = held.places?.[1] ?? this.lastIndex;
    this.previous = held.last;
    return this.snapshot();
  }

  private lacks(hash: string, sequence: number): void {
    this.gone.set(hash, sequence);
    this.unrecorded.add(sequence);
  }

  // The record says that a message was erased.
  private record(hash: string): void {
    const sequence = this.gone.get(hash);
    if (sequence === undefined) return;
    this.gone.delete(hash);
    this.unrecorded.delete(sequence);
    this.progress.erased++;
  }

  private find(...findings: Finding[]): void {
    const { found } = this.progress;
    for (const f of findings) {
      if (f.kind === "proof") found.proofs++;
      else found.chain++;
      if (this.room.left > 0) {
        this.room.left--;
        this.progress.findings.push(f);
      } else if (f.kind !== "tail") this.unlisted.add(f.sequence);
    }
  }

  // Remembers what it takes to find out what was altered.
  private note(m: ChainMessage, findings: readonly Finding[], inTree: boolean): void {
    this.seen.add(m);
    for (let n = (this.previous?.sequence ?? 0) + 1; n < m.sequence; n++) if (!this.seen.lacks(n)) break;
    this.follow(m);
    const digest = findings.some((f) => (f.kind === "hash" || f.kind === "content") && f.computed !== undefined);
    const readable = findings.every((f) => f.kind !== "format");
    if (!digest || !readable) return;
    const previous = this.previous && neighbour(this.previous);
    if (!this.keep(sizeOf(m) + (previous ? sizeOf(previous) : 0) + m.refs.length * refSize)) return;
    this.open = { message: { ...neighbour(m), session: m.session, refs: m.refs }, previous, next: null };
    this.broken.push(Object.assign(this.open, { inTree }));
  }

  // Tells the message before, if it is kept, what comes behind it.
  private follow(m: ChainMessage): void {
    if (this.open && this.keep(sizeOf(m))) this.open.next = neighbour(m);
    this.open = null;
  }

  private keep(characters: number): boolean {
    if (characters > this.room.characters) return false;
    this.room.characters -= characters;
    return true;
  }

  // Whether the message's computed hash is in the tree, by proof.
  private seal(m: ChainMessage, hash: string | null, heads: Heads | null): boolean {
    const { state, leafIndex } = m.integrity;
    if (state === "WITNESSED") this.progress.witnessedUpTo = m.sequence;
    const said = leafIndex !== null || /SEALED|WITN/.test(state);
    if (said) this.sealedUpTo = m.sequence;
    const found = heads ? checkSeal(m, hash, heads, this.climbed) : null;
    if (found) this.find(...found.findings);
    if (!found || found.state === "unproved") {
      this.unproved.add(m.sequence);
      if (said) this.said.add(m.sequence);
      return false;
    }
    if (found.state !== "proved" || found.index === null) return false;
    this.progress.proved++;
    this.sealedUpTo = m.sequence;
    if (found.index <= this.lastIndex) {
      const says: Said = { id: "chain.proof.order", values: { place: found.index } };
      this.find(missingProof(at(m), says));
    }
    this.lastIndex = found.index;
    return true;
  }

  /**
   * Checks that the session ends where it said it would, and that what was erased was erased on the record, and gives
   * the final state but for suspects(). Messages appended while the check ran are no break.
   */
  end(): SessionProgress {
    const { session, total } = this.progress;
    const last = this.previous?.sequence ?? 0;
    const where = { session, sequence: total, hash: this.head, kind: "tail" as const };
    if (last < total) {
      this.find({ ...where, detail: { id: "chain.tail", values: { total, last } } });
    } else if (last === total && this.previous && this.previous.hash !== this.head) {
      const detail: Said = { id: "chain.tail.head" };
      this.find({ ...where, detail, computed: this.previous.hash, stated: this.head });
    }
    for (const [hash, sequence] of this.gone) {
      const detail: Said = { id: "chain.erased" };
      this.find({ kind: "content", session, sequence, hash, detail });
      this.unrecorded.delete(sequence);
    }
    this.gone.clear();
    return this.snapshot();
  }

  /**
   * The numbers of the first messages that have no proof and must have one: the server says that they are sealed, or a later
   * message of the session is. They may have been sealed since they were asked for, so they are asked for again.
   */
  suspects(): number[] {
    return firstOf(this.unproved.runs, this.sealedUpTo, mostSuspects);
  }

  /** Checks suspects that were asked for again: what still has no proof is a finding. */
  again(asked: readonly Again[], heads: Heads): SessionProgress {
    const { session } = this.progress;
    for (const { sequence, hash, message: m, why } of asked) {
      if (!this.unproved.delete(sequence)) continue;
      const same = m?.hash === hash && m.sequence === sequence && m.session.hash === session;
      const found = same ? checkSeal(m, checkMessage(m).hash, heads) : null;
      if (found) this.find(...found.findings);
      if (found?.state === "proved") this.progress.proved++;
      if (found && found.state !== "unproved") continue;
      const sealed = (same && m.integrity.leafIndex !== null) || this.said.has(sequence);
      const says: Said = { id: sealed ? "chain.proof.withheld" : "chain.proof.absent" };
      const whole: Said = why ? { id: "chain.said", values: { says, why } } : says;
      this.find(missingProof({ session, sequence, hash }, whole));
    }
    return this.snapshot();
  }

  /** Whether explain() has something to do. */
  get explicable(): boolean {
    return this.broken.length > 0;
  }

  /**
   * Finds out of the next message which field was altered, where that can be proved, once all sessions of a check have been
   * seen: of one at a time, as it may take seconds.
   */
  explain(): SessionProgress {
    const { progress } = this;
    const broken = this.broken.shift();
    if (broken) {
      const altered = alteredOf(broken, this.seen, broken.inTree);
      const findings = explained(progress.findings, broken.message, altered);
      progress.found.chain -= progress.findings.length - findings.length;
      progress.findings = findings;
    }
    return this.snapshot();
  }

  private snapshot(): SessionProgress {
    const { found, findings, ...rest } = this.progress;
    const [unproved, unlisted, gone] = [this.unproved.runs, this.unlisted.runs, this.unrecorded.runs];
    return { ...rest, found: { ...found }, findings: [...findings], unproved, unlisted, gone };
  }
}

// The findings with what was altered in the place of what follows from it.
function explained(findings: readonly Finding[], m: Broken["message"], altered: Altered | null): Finding[] {
  const own = (f: Finding) => f.session === m.session.hash && f.sequence === m.sequence && f.hash === m.hash;
  const digest =
    findings.find((f) => own(f) && f.kind === "hash") ?? findings.find((f) => own(f) && f.kind === "content");
  if (!digest) return [...findings];
  if (!altered) {
    const detail: Said = { id: digest.kind === "hash" ? "chain.altered.unknown" : "chain.altered.content" };
    return findings.map((f) => (f === digest ? { ...f, detail } : f));
  }
  const { field, was, is } = altered;
  const detail: Said = field === "hash" ? { id: "chain.altered.hash" } : { id: "chain.altered", values: { field } };
  const kind = digest.kind === "content" ? digest.kind : "field";
  const follows = (f: Finding) =>
    (own(f) &&
      ((field === "contentDigest" && f.kind === "content") || (field === "refsDigest" && f.kind === "refs"))) ||
    (own(f) && field === "prevHash" && f.kind === "link") ||
    (field === "hash" && f.kind === "link" && f.computed === m.hash && f.stated === was);
  return findings
    .filter((f) => f === digest || !follows(f))
    .map((f) => (f === digest ? { ...f, kind, detail, was, is } : f));
}

const at = (m: ChainMessage) => ({ session: m.session.hash, sequence: m.sequence, hash: m.hash });
