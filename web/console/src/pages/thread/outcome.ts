import type { Recomputed } from "../../chain/browser";
import type { Progress } from "../../chain/verify";
import { atLeast } from "../../ui/Breaks";
import { dateTime } from "../../ui/format";
import type { IconName } from "../../ui/icons";
import { problemName } from "../../ui/Standing";
import { t } from "../../words";

/** What a check has come to, in words. */
export type Outcome = { tone: "good" | "bad" | "warn" | "muted"; mark: IconName; words: string };

/** Of the chain in this browser: proofs have an outcome of their own. */
export function chained(p: Recomputed): Progress<unknown> {
  return { ...p, found: { n: p.found.n - p.foundProofs.n, least: false } };
}

/** What is still done of it behind the outcome, to be added to that. */
export function explaining({ walked, done, error, found }: Recomputed, cancelled: boolean): string {
  const looking = walked && !done && !cancelled && error === null && found.n > 0;
  return looking ? t("thread.verdict.explaining") : "";
}

/** waiting: whether it has not begun. */
export function outcomeOf(p: Progress<unknown>, cancelled: boolean, waiting = false): Outcome {
  if (p.error) return { tone: "bad", mark: "error", words: t("thread.verdict.failed", { why: p.error }) };
  if (p.found.n > 0) return { tone: "bad", mark: "broken", words: t("thread.verdict.breaks", atLeast(p.found)) };
  if (!p.done) {
    const begun = waiting ? "thread.verdict.waiting" : "thread.verdict.checking";
    return { tone: "muted", mark: "unchecked", words: t(cancelled ? "thread.verdict.cancelled" : begun) };
  }
  return { tone: "good", mark: "check", words: t(p.total === 0 ? "thread.verdict.nothing" : "thread.verdict.good") };
}

/** Of the proofs in this browser. They are done with once all is recomputed, whatever is looked for behind it. */
export function proofsOutcome(p: Recomputed, cancelled: boolean): Outcome {
  const { standing, at, unproved, walked } = p;
  if (standing?.problem)
    return {
      tone: "bad",
      mark: "broken",
      words: t("thread.verdict.problem", { what: problemName(standing.problem.kind) }),
    };
  const error = walked ? null : p.error;
  const plain = outcomeOf({ ...p, found: p.foundProofs, done: walked || p.done, error }, cancelled);
  if (plain.tone !== "good" || p.total === 0) return plain;
  const { checkpoint } = standing ?? {};
  if (!checkpoint) return { tone: "muted", mark: "link", words: t("thread.verdict.chained") };
  const when = at ? dateTime(at) : "none";
  const sized = { n: checkpoint.size, when };
  const where = unproved > 0 ? t("thread.verdict.some", { ...sized, unproved }) : t("thread.verdict.all", sized);
  if (checkpoint.signature === "unchecked") {
    return { tone: "warn", mark: "warning", words: t("thread.verdict.signature", { where }) };
  }
  if (unproved > 0) return { tone: "muted", mark: "link", words: where };
  return { tone: "good", mark: "check", words: where };
}
