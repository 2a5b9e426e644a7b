import { useState } from "react";
import { useMutation } from "urql";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { ReasonDialog } from "../../ui/ReasonDialog";
import { AcceptTree, type Seal } from "./query";
import styles from "./SealPage.module.css";

/** Whether the server seals; loud if not, with the way on for administrators where there is one. */
export function Condition({ seal: { condition, problem, origin } }: { seal: Seal }) {
  if (condition === "SEALING") {
    return (
      <p className={problem ? styles.warning : styles.well}>
        <Icon name={problem ? "warning" : "sealed"} />
        <span>
          <b>Sealing.</b> {problem ?? "What is appended is in the signed tree within about a second."}
        </span>
      </p>
    );
  }
  return (
    <div className={styles.alarm} role="alert">
      <Icon name="broken" size={20} />
      <div>
        <b>
          {condition === "REFUSED"
            ? "REFUSED: the tree does not extend what was signed before, so nothing is signed"
            : "FAILING: this server cannot seal"}
        </b>
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
  if (!isAdmin(identity)) return <p>It needs an administrator’s word.</p>;
  return (
    <>
      <p>
        If you do not know why, stop here: somebody may have rolled the database back or changed what was sealed. Check
        the whole log below, compare with witnesses and exports, and restore what is missing.
      </p>
      <Button icon="warning" onClick={() => setOpen(true)}>
        Accept this tree…
      </Button>
      {open && (
        <ReasonDialog
          title="Go on with a tree that does not extend what was signed?"
          icon="warning"
          confirm="Accept, under a new name"
          onConfirm={async (reason) => (await accept({ reason })).error ?? null}
          onClose={() => setOpen(false)}
        >
          <p>
            <b>What it means:</b> you say that the log as it is in the database now is right, though it is not the one
            that <code>{origin}</code> signed. What that one covered and this one lacks stays lost.
          </p>
          <p>
            The log goes on under a new name and with a new key. The old name’s last checkpoint stays on record with
            your reason. Everybody who pinned the old key, this browser too, will be told that the key is another one,
            and witnesses have to be given the new one.
          </p>
          <p>It cannot be taken back.</p>
        </ReasonDialog>
      )}
    </>
  );
}
