import { useState } from "react";
import { useMutation } from "urql";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { ReasonDialog } from "../../ui/ReasonDialog";
import { T, t } from "../../words";
import { AcceptTree, type Seal } from "./query";
import styles from "./SealPage.module.css";

/** Whether the server seals; loud if not, with the way on for administrators where there is one. */
export function Condition({ seal: { condition, problem, origin } }: { seal: Seal }) {
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
        {condition === "REFUSED" && <Accept origin={origin} />}
      </div>
    </div>
  );
}

function Accept({ origin }: { origin: string }) {
  const { identity } = useSession();
  const [open, setOpen] = useState(false);
  const [, accept] = useMutation(AcceptTree);
  if (!isAdmin(identity)) return <p>{t("seal.accept.admin")}</p>;
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
          onConfirm={async (reason) => (await accept({ reason })).error ?? null}
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
