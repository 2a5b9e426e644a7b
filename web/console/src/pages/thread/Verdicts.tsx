import type { ReactNode } from "react";
import type { Recomputed } from "../../chain/browser";
import type { Progress, Verification } from "../../chain/verify";
import { atLeast } from "../../ui/Breaks";
import { count, dateTime } from "../../ui/format";
import only from "../../ui/Heard.module.css";
import { Icon, type IconName } from "../../ui/icons";
import { problemName } from "../../ui/Standing";
import { t } from "../../words";
import type { VerificationState } from "./useVerification";
import styles from "./Verify.module.css";

type Props = { found: Verification; phase: VerificationState["phase"] };

/** Who checked how much, by what, and with what outcome: one line each. */
export function Verdicts({ found: { browser, server }, phase }: Props) {
  const cancelled = phase === "cancelled";
  return (
    <div className={styles.verdicts}>
      <Verdict icon="browser" who={t("thread.verdict.browser")} p={chained(browser)} cancelled={cancelled}>
        {erasedIn(browser)}
      </Verdict>
      <Proofs p={browser} cancelled={cancelled} />
      <Verdict
        icon="server"
        who={t("thread.verdict.server")}
        p={server}
        cancelled={cancelled}
        waiting={!browser.walked && browser.error === null}
      />
      <p role="status" className={only.heard}>
        {cancelled || phase === "ended" ? heard(browser, server, cancelled) : t("thread.verdict.checking")}
      </p>
    </div>
  );
}

// What is said aloud once there is nothing more to come: not each step on the way there.
function heard(browser: Recomputed, server: Progress<unknown>, cancelled: boolean): string {
  return [
    { who: t("thread.verdict.browser"), ...outcomeOf(chained(browser), cancelled), more: erasedIn(browser) },
    { who: provedBy(browser), ...proofsOutcome(browser, cancelled), more: "" },
    { who: t("thread.verdict.server"), ...outcomeOf(server, cancelled), more: "" },
  ]
    .map(({ who, words, more }) => t("thread.verdict.heard", { who, words, more }))
    .join(" ");
}

const erasedIn = ({ erased }: Recomputed): string => (erased > 0 ? t("thread.verdict.erased", { n: erased }) : "");

const provedBy = ({ standing }: Recomputed): string =>
  t(standing?.checkpoint?.signature === "unchecked" ? "thread.verdict.unsigned" : "thread.verdict.proved");

// What concerns the chain; proofs have a line of their own.
function chained(p: Recomputed): Progress<unknown> {
  return { ...p, found: { n: p.found.n - p.foundProofs.n, least: false } };
}

type Outcome = { tone: "good" | "bad" | "warn" | "muted"; mark: IconName; words: string };

function Verdict({
  icon,
  who,
  p,
  cancelled,
  waiting = false,
  children,
}: {
  icon: IconName;
  who: string;
  p: Progress<unknown>;
  cancelled: boolean;
  /** Whether it has not begun. */
  waiting?: boolean;
  children?: ReactNode;
}) {
  const outcome = outcomeOf(p, cancelled, waiting);
  return <Line icon={icon} who={who} n={p.checked} p={p} outcome={outcome} more={children} />;
}

function outcomeOf(p: Progress<unknown>, cancelled: boolean, waiting = false): Outcome {
  if (p.error) return { tone: "bad", mark: "error", words: t("thread.verdict.failed", { why: p.error }) };
  if (p.found.n > 0) return { tone: "bad", mark: "broken", words: t("thread.verdict.breaks", atLeast(p.found)) };
  if (!p.done) {
    const begun = waiting ? "thread.verdict.waiting" : "thread.verdict.checking";
    return { tone: "muted", mark: "unchecked", words: t(cancelled ? "thread.verdict.cancelled" : begun) };
  }
  return { tone: "good", mark: "check", words: t(p.total === 0 ? "thread.verdict.nothing" : "thread.verdict.good") };
}

function Proofs({ p, cancelled }: { p: Recomputed; cancelled: boolean }) {
  return (
    <Line
      icon="sealed"
      who={provedBy(p)}
      n={p.standing?.problem ? 0 : p.proved}
      p={p}
      outcome={proofsOutcome(p, cancelled)}
    />
  );
}

function proofsOutcome(p: Recomputed, cancelled: boolean): Outcome {
  const { standing, at, unproved } = p;
  if (standing?.problem)
    return {
      tone: "bad",
      mark: "broken",
      words: t("thread.verdict.problem", { what: problemName(standing.problem.kind) }),
    };
  const plain = outcomeOf({ ...p, found: p.foundProofs }, cancelled);
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
      <span className={styles.amount}>{t("thread.verdict.amount", { n: count(n), of: count(p.total) })}</span>
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
