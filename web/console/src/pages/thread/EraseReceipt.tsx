import { type ReactNode, useEffect, useId, useRef } from "react";
import { Link } from "wouter";
import { keepIn } from "../../actions/listen";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import dialogStyles from "../../ui/Dialog.module.css";
import { FullHash } from "../../ui/Hash";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import styles from "./EraseDialog.module.css";
import type { Receipt } from "./erasure";
import { useVerification } from "./useVerification";
import { Verdicts } from "./Verdicts";

type Props = {
  title: string;
  /** The session that something was erased in. */
  session: string;
  /** The message that says so; null: it could not be had. */
  record: Pick<Receipt, "hash" | "sequence" | "createdAt"> | null;
  /** What else there is to say of it. */
  children?: ReactNode;
  onClose: () => void;
};

/** Shows the record of an erasure, and checks the session's chain again in this browser. */
export function EraseReceipt({ title, session, record, children, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titled = useId();
  const check = useVerification({ kind: "session", hash: session });
  const { identity } = useSession();
  const may = has(identity, "verify");
  const { start } = check;
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (may) start(null);
  }, [may, start]);
  return (
    <dialog ref={dialog} className={dialogStyles.dialog} aria-labelledby={titled} onClose={onClose} onKeyDown={keepIn}>
      <div className={dialogStyles.form}>
        <h2 id={titled}>{title}</h2>
        {children}
        {record && (
          <>
            <p className={styles.record}>
              <T
                id="erase.record"
                values={{ n: String(record.sequence), at: <Time at={record.createdAt} /> }}
                components={{ link: (inside) => <Link href={`/messages/${record.hash}`}>{inside}</Link> }}
              />
            </p>
            <FullHash hash={record.hash} what={t("erase.receipt")} />
          </>
        )}
        <p>{t(may ? "erase.checked" : "erase.unchecked")}</p>
        {may && (
          <div className={styles.checked}>
            <Verdicts found={check.found} phase={check.phase} />
          </div>
        )}
        <div className={dialogStyles.actions}>
          {check.phase === "running" && (
            <Button icon="close" onClick={check.cancel}>
              {t("erase.stop")}
            </Button>
          )}
          <Button look="primary" onClick={() => dialog.current?.close()}>
            {t("erase.close")}
          </Button>
        </div>
      </div>
    </dialog>
  );
}
