import { useEffect, useRef, useState } from "react";
import { IconButton } from "../../ui/Button";
import { t } from "../../words";
import { Form } from "./Form";
import { MadeToken } from "./MadeToken";
import styles from "./NewToken.module.css";
import type { Made } from "./query";

/** Makes a token, beside the list; then shows its secret, once. */
export function NewToken({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [made, setMade] = useState<Made | null>(null);
  const panel = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what comes next begins at its top
  useEffect(() => {
    panel.current?.scrollTo(0, 0);
    panel.current?.focus();
  }, [made]);
  const done = (token: Made) => {
    setMade(token);
    onMade();
  };
  return (
    <aside ref={panel} className={styles.panel} tabIndex={-1} aria-label={made ? t("tokens.made") : t("tokens.new")}>
      <header className={styles.head}>
        <h2>{made ? t("tokens.made") : t("tokens.new")}</h2>
        {!made && <IconButton icon="close" label={t("tokens.close")} action="panel.close" onClick={onClose} />}
      </header>
      {made ? <MadeToken made={made} onClose={onClose} /> : <Form onMade={done} onClose={onClose} />}
    </aside>
  );
}
