import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../../ui/Button";
import { ReasonDialog } from "../../ui/ReasonDialog";
import styles from "./Panel.module.css";
import { EraseMessage } from "./query";

type Props = { hash: string; sequence: number; onErased: () => void };

/** Offers to erase a message's content, for good and on the record. */
export function Erase({ hash, sequence, onErased }: Props) {
  const [open, setOpen] = useState(false);
  const [, erase] = useMutation(EraseMessage);
  const onConfirm = async (reason: string) => {
    const { error } = await erase({ hash, reason });
    if (!error) onErased();
    return error ?? null;
  };
  return (
    <section className={styles.section} aria-label="Erasure">
      <Button icon="erased" onClick={() => setOpen(true)}>
        Erase content…
      </Button>
      {open && (
        <ReasonDialog
          title={`Erase the content of message #${sequence}?`}
          icon="erased"
          confirm="Erase for good"
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>
            <b>What goes, for good:</b> the text, attachments, surroundings and the salt of their digest; what searches
            found it by; its text in selections that were kept. Nobody can bring it back from this log.
          </p>
          <p>
            <b>What stays:</b> who sent it to whom, when, with which tags and refs; its hash and the digest of the
            content; its place in the chain and every proof. A message is appended to its session that says that you
            erased it, when and why. That message cannot be erased.
          </p>
          <p>Backups, exports and what others copied are not touched.</p>
        </ReasonDialog>
      )}
    </section>
  );
}
