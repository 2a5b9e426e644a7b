import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../../ui/Button";
import { ReasonDialog } from "../../ui/ReasonDialog";
import { T, t } from "../../words";
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
    <section className={styles.section} aria-label={t("thread.erase.title")}>
      <Button icon="erased" onClick={() => setOpen(true)}>
        {t("thread.erase")}
      </Button>
      {open && (
        <ReasonDialog
          title={t("thread.erase.ask", { n: String(sequence) })}
          icon="erased"
          confirm={t("thread.erase.confirm")}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>
            <T id="thread.erase.goes" />
          </p>
          <p>
            <T id="thread.erase.stays" />
          </p>
          <p>{t("thread.erase.copies")}</p>
        </ReasonDialog>
      )}
    </section>
  );
}
