import { useRef, useState } from "react";
import { useMutation } from "urql";
import { useAction } from "../../actions/useAction";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import { EraseDialog } from "./EraseDialog";
import { EraseMessage, type Receipt } from "./erasure";
import styles from "./Panel.module.css";

type Props = { hash: string; sequence: number; onErased: (receipt: Receipt) => void };

/** Offers to erase a message's content, for good and on the record. */
export function Erase({ hash, sequence, onErased }: Props) {
  const [open, setOpen] = useState(false);
  const [, erase] = useMutation(EraseMessage);
  const receipt = useRef<Receipt | null>(null); // shown once the question is closed
  useAction("message.erase", () => setOpen(true));
  const onErase = async (reason: string) => {
    const { data, error } = await erase({ hash, reason });
    if (!data) return error ?? null;
    receipt.current = data.eraseMessage;
    return null;
  };
  const close = () => {
    setOpen(false);
    if (receipt.current) onErased(receipt.current);
  };
  return (
    <section className={styles.section} aria-label={t("erase.section")}>
      <Button icon="erased" action="message.erase">
        {t("erase.open")}
      </Button>
      {open && (
        <EraseDialog
          of={{ message: hash }}
          title={t("erase.title", { n: String(sequence) })}
          onErase={onErase}
          onClose={close}
        />
      )}
    </section>
  );
}
