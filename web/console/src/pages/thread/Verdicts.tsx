import type { ReactNode } from "react";
import type { Recomputed } from "../../chain/browser";
import type { Progress, Verification } from "../../chain/verify";
import { count, dateTime, plural } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import { problemName } from "../../ui/Standing";
import styles from "./Verify.module.css";

/** Who checked how much, by what, and with what outcome: one line each. */
export function Verdicts({ found: { browser, server }, cancelled }: { found: Verification; cancelled: boolean }) {
  return (
    <div className={styles.verdicts} aria-live="polite">
      <Verdict icon="browser" who="Recomputed in this browser" p={chained(browser)} cancelled={cancelled}>
        {browser.erased > 0 && `, ${plural(browser.erased, "erased content")} by digest only`}
      </Verdict>
      <Proofs p={browser} cancelled={cancelled} />
      <Verdict icon="server" who="Server says" p={server} cancelled={cancelled} />
    </div>
  );
}

// What concerns the chain; proofs have a line of their own.
function chained(p: Recomputed): Progress<unknown> {
  return { ...p, breaks: p.breaks.filter((b) => b.kind !== "proof") };
}

type Outcome = { tone: "good" | "bad" | "warn" | "muted"; mark: IconName; words: ReactNode };

function Verdict({
  icon,
  who,
  p,
  cancelled,
  children,
}: {
  icon: IconName;
  who: string;
  p: Progress<unknown>;
  cancelled: boolean;
  children?: ReactNode;
}) {
  const outcome = outcomeOf(p, cancelled);
  return <Line icon={icon} who={who} n={p.checked} p={p} outcome={outcome} more={children} />;
}

function outcomeOf(p: Progress<unknown>, cancelled: boolean): Outcome {
  if (p.error) return { tone: "bad", mark: "error", words: `not finished: ${p.error}` };
  if (p.breaks.length > 0) return { tone: "bad", mark: "broken", words: plural(p.breaks.length, "break") };
  if (!p.done) return { tone: "muted", mark: "unchecked", words: cancelled ? "cancelled" : "checking…" };
  return { tone: "good", mark: "check", words: p.total === 0 ? "nothing to check" : "no break" };
}

function Proofs({ p, cancelled }: { p: Recomputed; cancelled: boolean }) {
  const proofs = { ...p, breaks: p.breaks.filter((b) => b.kind === "proof") };
  return (
    <Line
      icon="sealed"
      who={p.standing?.checkpoint?.signature === "unchecked" ? "Proofs, unsigned" : "Proved in this browser"}
      n={p.standing?.problem ? 0 : p.proved}
      p={p}
      outcome={proofsOutcome(proofs, cancelled)}
    />
  );
}

function proofsOutcome(p: Recomputed, cancelled: boolean): Outcome {
  const { standing, at, unproved } = p;
  if (standing?.problem)
    return { tone: "bad", mark: "broken", words: `not checked: ${problemName(standing.problem.kind)}` };
  const plain = outcomeOf(p, cancelled);
  if (plain.tone !== "good" || p.total === 0) return plain;
  const { checkpoint } = standing ?? {};
  if (!checkpoint) return { tone: "muted", mark: "link", words: "only chained: nothing is sealed yet" };
  const where = `checkpoint of ${plural(checkpoint.size, "message")}${at ? `, ${dateTime(at)}` : ""}`;
  const rest = unproved > 0 ? `, ${count(unproved)} only chained` : "";
  if (checkpoint.signature === "unchecked") {
    return { tone: "warn", mark: "warning", words: `signature not checked by this browser; ${where}${rest}` };
  }
  if (unproved > 0) return { tone: "muted", mark: "link", words: `${where}${rest}` };
  return { tone: "good", mark: "check", words: where };
}

function Line({
  icon,
  who,
  n,
  p,
  outcome,
  more,
}: {
  icon: IconName;
  who: string;
  n: number;
  p: Progress<unknown>;
  outcome: Outcome;
  more?: ReactNode;
}) {
  return (
    <div className={styles.verdict} data-tone={outcome.tone}>
      <Icon name={icon} />
      <span className={styles.who}>{who}</span>
      <span className={styles.amount}>
        {count(n)} of {count(p.total)}
      </span>
      <progress aria-label={who} max={Math.max(p.total, 1)} value={p.total === 0 && p.done ? 1 : n} />
      <span className={styles.words}>
        <Icon name={outcome.mark} size={14} />
        <span>
          {outcome.words}
          {more}
        </span>
      </span>
    </div>
  );
}
