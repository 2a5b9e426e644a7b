// What the check of all sessions has come to, kept up step by step: a thread may have as many sessions as messages. Pure.
import type { Recomputed } from "./browser";
import { CheckedHashes, type HashRun } from "./hashes";
import { amount } from "./numbers";
import type { SessionProgress } from "./session";

type Sums = Record<"checked" | "erased" | "proved" | "unproved" | "chain" | "proofs", number>;

const none: Sums = { checked: 0, erased: 0, proved: 0, unproved: 0, chain: 0, proofs: 0 };

/** What was told of sessions, and the sums of it. */
export class Tally {
  /** By session: each as it is now. What was told of one and the hashes that were checked of it are of the same moment. */
  readonly sessions = new Map<string, SessionProgress>();
  readonly hashes = new Map<string, CheckedHashes>();
  private readonly sums = { ...none };
  private readonly of = new Map<string, Sums>();
  private readonly wrong = new Set<string>(); // sessions that have findings to tell: at most as many as findings

  /** Takes what is told of one session, and the hashes that were checked since. It looks at no other. */
  take(p: SessionProgress, runs: readonly HashRun[]): void {
    const now: Sums = {
      checked: p.checked,
      erased: p.erased,
      proved: p.proved,
      unproved: amount(p.unproved),
      chain: p.found.chain,
      proofs: p.found.proofs,
    };
    const before = this.of.get(p.session) ?? none;
    for (const key of Object.keys(none) as (keyof Sums)[]) this.sums[key] += now[key] - before[key];
    this.of.set(p.session, now);
    this.sessions.set(p.session, p);
    const hashes = this.hashes.get(p.session) ?? new CheckedHashes();
    this.hashes.set(p.session, hashes);
    for (const run of runs) hashes.add(run);
    if (p.findings.length > 0) this.wrong.add(p.session);
  }

  /** All of it, to be shown. least: whether there are more proofs missing than were counted. */
  told(least: boolean): Partial<Recomputed> {
    const { chain, proofs, ...sums } = this.sums;
    const findings = [...this.wrong].map((session) => this.sessions.get(session)?.findings ?? []);
    return {
      ...sums,
      breaks: findings.flatMap((of) => of.toSorted((a, b) => a.sequence - b.sequence)),
      found: { n: chain + proofs, least },
      foundProofs: { n: proofs, least },
      sessions: this.sessions,
      hashes: this.hashes,
    };
  }
}
