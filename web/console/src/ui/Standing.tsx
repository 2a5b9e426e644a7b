import type { ReactNode } from "react";
import type { ProblemKind, Standing as State } from "../seal/anchor";
import { count, dateTime } from "./format";
import { Icon } from "./icons";
import styles from "./Standing.module.css";

const titles: Record<ProblemKind, string> = {
  key: "OTHER KEY: this is not the log that this browser knows",
  signature: "NOT SIGNED: the checkpoint is not one that the pinned key signed",
  rollback: "ROLLED BACK: the log is shorter than it was",
  fork: "FORKED: the log does not extend the one that this browser checked",
  unproved: "NOT SHOWN: nothing says that this is the log that this browser checked",
};

/** The short name of a problem. */
export const problemName = (kind: ProblemKind): string => titles[kind].split(":")[0]?.toLowerCase() ?? kind;

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
          <b>{titles[problem.kind]}</b>
          {problem.detail} No proof is believed here until that is clear.
          {problem.shown && (
            <>
              <br />
              Shown now: <code>{problem.shown}</code>
            </>
          )}
          {before && (
            <>
              <br />
              Pinned on {dateTime(before.since)}: <code>{before.key}</code>
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
          {before
            ? `The key is the one that this browser pinned on ${dateTime(before.since)}.`
            : "This browser saw the log’s key for the first time, and has pinned it now. Compare it with what you have from elsewhere."}
          {before?.head &&
            checkpoint &&
            ` The log extends the checkpoint of ${count(before.head.size)} messages that was checked here on ${dateTime(before.head.at)}.`}
        </span>
      </p>
      {checkpoint?.signature === "unchecked" && (
        <p className={styles.plain}>
          <Icon name="warning" size={14} />
          <span>
            Signature not checked by this browser: it has no Ed25519 here (that needs https or localhost, and a browser
            that knows it). Proofs are checked against a checkpoint that anybody could have written.
          </span>
        </p>
      )}
    </div>
  );
}
