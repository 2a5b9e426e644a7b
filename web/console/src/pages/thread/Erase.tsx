import { useState } from "react";
import { useAction } from "../../actions/useAction";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import { EraseDialog } from "./EraseDialog";
import type { Receipt } from "./erasure";
import styles from "./Panel.module.css";

type Props = { hash: string; sequence: number; onErased: (receipt: Receipt) => void };

/** Offers to erase a message's content, for good and on the record. */
export function Erase({ hash, sequence, onErased }: Props) {
  const [open, setOpen] = useState(false);
  useAction("message.erase", () => setOpen(true));
  return (
    <section className={styles.section} aria-label={t("erase.section")}>
      <Button icon="erased" action="message.erase">
        {t("erase.open")}
      </Button>
      {open && <EraseDialog hash={hash} sequence={sequence} onErased={onErased} onClose={() => setOpen(false)} />}
    </section>
  );
}
