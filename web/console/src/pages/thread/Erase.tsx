import { useRef } from "react";
import { useMutation } from "urql";
import { useAction } from "../../actions/useAction";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import { EraseDialog } from "./EraseDialog";
import { EraseMessage, type Receipt } from "./erasure";
import styles from "./Panel.module.css";

/** Offers to erase a message's content, for good and on the record. */
export function Erase({ onAsk }: { onAsk: () => void }) {
  useAction("message.erase", onAsk);
  return (
    <section className={styles.section} aria-label={t("erase.section")}>
      <Button icon="erased" action="message.erase">
        {t("erase.open")}
      </Button>
    </section>
  );
}

type QuestionProps = {
  hash: string;
  sequence: number;
  /** Called once the dialog is closed. receipt: null if nothing was erased. */
  onClose: (receipt: Receipt | null) => void;
};

/** Asks whether to erase a message's content, and does. */
export function EraseQuestion({ hash, sequence, onClose }: QuestionProps) {
  const [, erase] = useMutation(EraseMessage);
  const receipt = useRef<Receipt | null>(null); // shown once the question is closed
  const onErase = async (reason: string) => {
    const { data, error } = await erase({ hash, reason });
    if (!data) return error ?? null;
    receipt.current = data.eraseMessage;
    return null;
  };
  return (
    <EraseDialog
      of={{ message: hash }}
      title={t("erase.title", { n: String(sequence) })}
      onErase={onErase}
      onClose={() => onClose(receipt.current)}
    />
  );
}
