import type { ReactNode } from "react";
import { say } from "../chain/words";
import type { ProblemKind, Standing as State } from "../seal/anchor";
import { T, t } from "../words";
import { dateTime } from "./format";
import { Icon } from "./icons";
import styles from "./Standing.module.css";

/** The short name of a problem. */
export const problemName = (kind: ProblemKind): string => t(`chain.problem.name.${kind}`);

/** How the log stands to what this browser remembers: loud if it is not the same history. action stands in the alert. */
export function Standing({
  standing: { before, checkpoint, problem },
  action,
}: {
  standing: State;
  action?: ReactNode;
}) {
  if (problem) {
    return (
      <div className={styles.bad} role="alert">
        <Icon name="broken" />
        <div>
          <b>{t(`chain.problem.${problem.kind}`)}</b>
          {t("chain.standing.doubt", { detail: say(problem.detail) })}
          {problem.shown && (
            <>
              <br />
              <T id="chain.standing.shown" values={{ key: <code>{problem.shown}</code> }} />
            </>
          )}
          {before && (
            <>
              <br />
              <T id="chain.standing.pinned" values={{ when: dateTime(before.since), key: <code>{before.key}</code> }} />
            </>
          )}
          {action}
        </div>
      </div>
    );
  }
  return (
    <div className={styles.standing}>
      <p className={styles.good}>
        <Icon name="key" size={14} />
        <span>
          {before ? t("chain.standing.same", { when: dateTime(before.since) }) : t("chain.standing.first")}
          {before?.head && checkpoint && (
            <> {t("chain.standing.extends", { n: before.head.size, when: dateTime(before.head.at) })}</>
          )}
        </span>
      </p>
      {checkpoint?.signature === "unchecked" && (
        <p className={styles.plain}>
          <Icon name="warning" size={14} />
          <span>{t("chain.standing.unchecked")}</span>
        </p>
      )}
    </div>
  );
}
