import { useState } from "react";
import { type CombinedError, useMutation } from "urql";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { ReasonDialog } from "../../ui/ReasonDialog";
import { T, t } from "../../words";
import { AcceptTree, type Seal } from "./query";
import styles from "./SealPage.module.css";

type Props = { seal: Seal; onAccepted: () => void };

/** Whether the server seals; loud if not, with the way on for administrators where there is one. */
export function Condition({ seal: { condition, problem, origin }, onAccepted }: Props) {
  if (condition === "SEALING") {
    return (
      <p className={problem ? styles.warning : styles.well}>
        <Icon name={problem ? "warning" : "sealed"} />
        <span>
          <T id="seal.sealing" values={{ what: problem ?? t("seal.sealing.well") }} />
        </span>
      </p>
    );
  }
  return (
    <div className={styles.alarm} role="alert">
      <Icon name="broken" size={20} />
      <div>
        <b>{condition === "REFUSED" ? t("seal.refused") : t("seal.failing")}</b>
        <p className={styles.reason}>{problem}</p>
        {condition === "REFUSED" && <Accept origin={origin} onAccepted={onAccepted} />}
      </div>
    </div>
  );
}

function Accept({ origin, onAccepted }: { origin: string; onAccepted: () => void }) {
  const { identity } = useSession();
  const [open, setOpen] = useState(false);
  const [, accept] = useMutation(AcceptTree);
  if (!isAdmin(identity)) return <p>{t("seal.accept.admin")}</p>;
  const onConfirm = async (reason: string): Promise<CombinedError | null> => {
    const { error } = await accept({ reason });
    if (!error) onAccepted();
    return error ?? null;
  };
  return (
    <>
      <p>{t("seal.accept.warning")}</p>
      <Button icon="warning" onClick={() => setOpen(true)}>
        {t("seal.accept")}
      </Button>
      {open && (
        <ReasonDialog
          title={t("seal.accept.title")}
          icon="warning"
          confirm={t("seal.accept.confirm")}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>
            <T id="seal.accept.means" values={{ origin: <code>{origin}</code> }} />
          </p>
          <p>{t("seal.accept.then")}</p>
          <p>{t("seal.accept.final")}</p>
        </ReasonDialog>
      )}
    </>
  );
}
