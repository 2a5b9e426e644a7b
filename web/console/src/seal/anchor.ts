// The one checkpoint that everything is held against: signed by the key that this browser has pinned, and an extension
// of the newest one that it checked before. Whatever other checkpoints turn up must belong to the same history.
import { type Said, SaidError } from "../words/said";
import { type Checkpoint, type Head, openCheckpoint } from "./checkpoint";
import { checkConsistency } from "./merkle";
import { parseKey, SealError, type VerifierKey } from "./note";
import { type Keep, type Pin, readPin, writePin } from "./pin";

/** What is asked of the server. consistency rejects if the server cannot say it. */
export type Source = {
  seal: () => Promise<{ publicKey: string; checkpoint: { note: string } | null }>;
  consistency: (from: number, to: number) => Promise<string[]>;
};

/**
 * Why nothing that the server says of the seal is believed here.
 *
 * - key: it shows another key than was pinned;
 * - signature: its checkpoint is not one that the pinned key signed;
 * - rollback: its tree is smaller than one that was checked here;
 * - fork: its tree does not extend one that was checked here;
 * - unproved: it does not say how its tree extends one that was checked here.
 */
export type ProblemKind = "key" | "signature" | "rollback" | "fork" | "unproved";

/** What is wrong, in words; shown is the server's key where that is another one. */
export type SealProblem = { kind: ProblemKind; detail: Said; shown?: string };

/** How the log stands to what this browser remembers of it. */
export type Standing = {
  /** As it was before this check; null at the first visit. */
  before: Pin | null;
  /** The checkpoint that holds; null if nothing is sealed, or there is a problem. */
  checkpoint: Checkpoint | null;
  problem: SealProblem | null;
};

class ProblemError extends SaidError {
  constructor(readonly problem: SealProblem) {
    super(problem.detail);
  }
}

/** One check's anchor. Made by begin. */
export class Anchor {
  private readonly covered = new Map<string, Head | SealProblem>();

  private constructor(
    private readonly source: Source,
    private readonly keep: Keep,
    private readonly now: () => string,
    private readonly publicKey: string,
    private readonly key: VerifierKey | null,
    private current: Standing,
  ) {}

  /**
   * Asks for the newest checkpoint, and checks it against what is remembered. If all is well it is what is remembered
   * from then on, and at the first visit its key is. Rejects only if the server cannot be asked.
   */
  static async begin(source: Source, keep: Keep, now: () => string): Promise<Anchor> {
    const before = readPin(keep);
    const { publicKey, checkpoint: shown } = await source.seal();
    const trusted = before?.key ?? publicKey;
    const none: Standing = { before, checkpoint: null, problem: null };
    const failed = (problem: SealProblem) => new Anchor(source, keep, now, trusted, null, { ...none, problem });
    try {
      if (publicKey !== trusted) {
        const detail: Said = { id: "chain.standing.key" };
        throw new ProblemError({ kind: "key", detail, shown: publicKey });
      }
      const key = opened(() => parseKey(trusted));
      const anchor = new Anchor(source, keep, now, trusted, key, none);
      if (shown) await anchor.advance(shown.note);
      else if (before?.head) throw new ProblemError(rolledBack(before.head, 0));
      anchor.remember();
      return anchor;
    } catch (error) {
      if (error instanceof ProblemError) return failed(error.problem);
      throw error;
    }
  }

  /** How the log stands by now. */
  get standing(): Standing {
    return this.current;
  }

  /**
   * Gives the head of a proof's checkpoint, once it is shown to belong to the same history as the anchor; the problem if
   * it does not. A newer one takes the anchor's place. Each is checked once. Rejects only if the server cannot be asked.
   */
  async cover(note: string): Promise<Head | SealProblem> {
    const known = this.covered.get(note);
    if (known) return known;
    let found: Head | SealProblem;
    try {
      found = this.current.problem ?? (await this.belongs(note));
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      found = error.problem;
      this.current = { ...this.current, checkpoint: null, problem: found };
    }
    this.covered.set(note, found);
    return found;
  }

  private async belongs(note: string): Promise<Head> {
    const anchor = this.current.checkpoint;
    const checkpoint = await this.open(note);
    if (anchor && checkpoint.size <= anchor.size) {
      await this.extend(checkpoint, anchor);
      return checkpoint;
    }
    await this.advance(note);
    this.remember();
    return checkpoint;
  }

  // Makes a checkpoint the anchor, if it extends the one before, or what is remembered.
  private async advance(note: string): Promise<void> {
    const checkpoint = await this.open(note);
    const older = this.current.checkpoint ?? this.current.before?.head;
    if (older) await this.extend(older, checkpoint);
    this.current = { ...this.current, checkpoint };
  }

  private async open(note: string): Promise<Checkpoint> {
    if (!this.key) throw new Error("a checkpoint without a key");
    try {
      return await openCheckpoint(note, this.key);
    } catch (error) {
      throw asProblem("signature", error);
    }
  }

  private async extend(older: Head, newer: Head): Promise<void> {
    if (older.size > newer.size) throw new ProblemError(rolledBack(older, newer.size));
    let path: string[] = [];
    if (older.size > 0 && older.size < newer.size) {
      try {
        path = await this.source.consistency(older.size, newer.size);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const detail: Said = { id: "chain.standing.unproved", values: { newer: newer.size, older: older.size, why } };
        throw new ProblemError({ kind: "unproved", detail });
      }
    }
    try {
      checkConsistency(older, newer, path);
    } catch (error) {
      throw asProblem("fork", error);
    }
  }

  private remember(): void {
    const { before, checkpoint: c } = this.current;
    const since = before?.since ?? this.now();
    const head = c && { size: c.size, root: c.root, at: this.now(), signed: c.signature === "valid" };
    writePin(this.keep, { key: this.publicKey, since, head });
  }
}

function rolledBack(older: Head, size: number): SealProblem {
  const detail: Said = { id: "chain.standing.rollback", values: { size, checked: older.size } };
  return { kind: "rollback", detail };
}

function opened<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asProblem("signature", error);
  }
}

function asProblem(kind: ProblemKind, error: unknown): unknown {
  return error instanceof SealError ? new ProblemError({ kind, detail: error.said }) : error;
}
