import { useCallback } from "react";
import { useAction } from "../../actions/useAction";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import type { Subject } from "../../chain/verify";
import { type Break, Breaks, fromFinding, fromServer } from "../../ui/Breaks";
import { Button } from "../../ui/Button";
import { Standing } from "../../ui/Standing";
import { T, t } from "../../words";
import { Elsewhere } from "./Elsewhere";
import type { VerificationState } from "./useVerification";
import { Verdicts } from "./Verdicts";
import styles from "./Verify.module.css";

/** Shows where in the list a break is. */
export type Show = (at: { session: string; sequence: number | null; hash: string | null }) => Promise<void>;

type Props = {
  state: VerificationState;
  subject: Subject;
  /** Begins the checks. */
  start: () => void;
  show: Show;
};

/** Starts the checks of the chain and of the seal, and says of each who checked how much and what was found. */
export function Verify({ state, subject, start, show }: Props) {
  const { identity } = useSession();
  const action = useCallback(
    (b: Break) => <Button onClick={() => void show(b)}>{t("thread.verify.show")}</Button>,
    [show],
  );
  const { phase, found, cancel } = state;
  const what = subject.kind;
  const { browser, server } = found;
  useAction("chain.verify", start, { enabled: phase !== "running" });
  useAction("chain.cancel", cancel, { enabled: phase === "running" });
  if (!has(identity, "verify")) {
    return (
      <section className={styles.verify} aria-label={t("thread.verify.title")}>
        <p className={styles.idle}>{t("thread.verify.lacks")}</p>
      </section>
    );
  }
  return (
    <section className={styles.verify} aria-label={t("thread.verify.title")}>
      <div className={styles.bar}>
        {phase === "running" ? (
          <Button icon="close" action="chain.cancel">
            {t("thread.cancel")}
          </Button>
        ) : (
          <Button icon="verified" look={phase === "idle" ? "primary" : "plain"} action="chain.verify">
            {t(phase === "idle" ? "thread.verify" : "thread.verify.again")}
          </Button>
        )}
        {phase === "idle" ? (
          <p className={styles.idle}>{t("thread.verify.idle", { what })}</p>
        ) : (
          <Verdicts found={found} phase={phase} />
        )}
      </div>
      {browser.standing && <Standing standing={browser.standing} />}
      {browser.breaks.length + server.breaks.length > 0 && (
        <div className={styles.breaks}>
          <Breaks who={t("thread.verify.browser")} action={action} {...browser} as={fromFinding} />
          <Breaks who={t("thread.verify.server")} action={action} {...server} as={fromServer} />
        </div>
      )}
      {phase === "ended" && (
        <p className={styles.caveat}>
          <T id="thread.verify.caveat" />
        </p>
      )}
      <Elsewhere subject={subject} found={found} />
    </section>
  );
}
