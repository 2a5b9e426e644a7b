import type { ReactNode } from "react";
import type { Recomputed } from "../../chain/browser";
import type { Progress, Verification } from "../../chain/verify";
import { count } from "../../ui/format";
import only from "../../ui/Heard.module.css";
import { Icon, type IconName } from "../../ui/icons";
import { t } from "../../words";
import { chained, explaining, type Outcome, outcomeOf, proofsOutcome } from "./outcome";
import type { VerificationState } from "./useVerification";
import styles from "./Verify.module.css";

type Props = { found: Verification; phase: VerificationState["phase"] };

/** Who checked how much, by what, and with what outcome: one line each. */
export function Verdicts({ found: { browser, server }, phase }: Props) {
  const cancelled = phase === "cancelled";
  return (
    <div className={styles.verdicts}>
      <Verdict icon="browser" who={t("thread.verdict.browser")} p={chained(browser)} cancelled={cancelled}>
        {explaining(browser, cancelled)}
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
