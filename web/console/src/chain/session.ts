import { type ChainMessage, checkLink, checkMessage, type Finding } from "./check";

/** How far the check of one session in this browser has come. Grows with what is wrong, not with the session. */
export type SessionProgress = {
  session: string;
  checked: number;
  /** The number of the last message checked; 0 before the first. */
  upTo: number;
  /** How many messages the session said it has when the check began. */
  total: number;
  erased: number;
  findings: Finding[];
};

/**
 * Checks one session's chain page by page, in the chain's order. The caller gives every message once.
 */
export class SessionCheck {
  private previous: ChainMessage | null = null;
  private readonly progress: SessionProgress;

  constructor(
    session: string,
    length: number,
    private readonly head: string,
  ) {
    this.progress = { session, checked: 0, upTo: 0, total: length, erased: 0, findings: [] };
  }

  /** Checks the next messages and gives the state after them. */
  page(messages: readonly ChainMessage[]): SessionProgress {
    for (const message of messages) {
      const { findings, erased } = checkMessage(message);
      this.progress.findings.push(...findings, ...checkLink(this.previous, message));
      this.progress.checked++;
      this.progress.upTo = message.sequence;
      if (erased) this.progress.erased++;
      this.previous = message;
    }
    return this.snapshot();
  }

  /**
   * Checks that the session ends where it said it would, and gives the final state. Messages appended while the
   * check ran are no break.
   */
  end(): SessionProgress {
    const { session, total } = this.progress;
    const last = this.previous?.sequence ?? 0;
    const at = { session, sequence: total, hash: this.head, kind: "tail" as const };
    if (last < total) {
      this.progress.findings.push({ ...at, detail: `The session says it has ${total} messages, and ends at ${last}.` });
    } else if (last === total && this.previous && this.previous.hash !== this.head) {
      const detail = "The last message is not the head that the session names.";
      this.progress.findings.push({ ...at, detail, computed: this.previous.hash, stated: this.head });
    }
    return this.snapshot();
  }

  private snapshot(): SessionProgress {
    return { ...this.progress, findings: [...this.progress.findings] };
  }
}
