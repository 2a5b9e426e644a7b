import { useEffect, useId, useRef } from "react";
import { Link } from "wouter";
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

type Props = { receipt: Receipt; onClose: () => void };

/** Shows the record of an erasure, and checks the session's chain again in this browser. */
export function EraseReceipt({ receipt, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titled = useId();
  const check = useVerification({ kind: "session", hash: receipt.session.hash });
  const { identity } = useSession();
  const may = has(identity, "verify");
  const { start } = check;
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (may) start(null);
  }, [may, start]);
  return (
    <dialog
      ref={dialog}
      className={dialogStyles.dialog}
      aria-labelledby={titled}
      onClose={onClose}
      onKeyDown={(e) => e.stopPropagation()}
    >
      <div className={dialogStyles.form}>
        <h2 id={titled}>{t("erase.done")}</h2>
        <p className={styles.record}>
          <T
            id="erase.record"
            values={{ n: String(receipt.sequence), at: <Time at={receipt.createdAt} /> }}
            components={{ link: (inside) => <Link href={`/messages/${receipt.hash}`}>{inside}</Link> }}
          />
        </p>
        <FullHash hash={receipt.hash} what={t("erase.receipt")} />
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
