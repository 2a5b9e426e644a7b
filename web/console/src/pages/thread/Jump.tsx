import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { keepIn } from "../../actions/listen";
import { words } from "../../api/errors";
import { Button } from "../../ui/Button";
import styles from "../../ui/Dialog.module.css";
import { Icon } from "../../ui/icons";
import { t } from "../../words";

type Props = {
  /** Goes there, and gives in words why it cannot; null once it is there. */
  onJump: (text: string) => Promise<string | null>;
  onClose: () => void;
};

/** Asks where to jump: to a place, a moment or a message. */
export function Jump({ onJump, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titled = useId();
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const wrong = await onJump(text).catch(words);
    if (wrong === null) onClose();
    else setProblem(wrong);
  };
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={titled} onClose={onClose} onKeyDown={keepIn}>
      <form className={styles.form} onSubmit={(e) => void submit(e)}>
        <h2 id={titled}>{t("thread.jump.title")}</h2>
        <label className={styles.label}>
          {t("thread.jump.where")}
          <input
            className={styles.field}
            value={text}
            autoComplete="off"
            spellCheck={false}
            placeholder="120 · 2026-03-01 14:00 · 5e1f0c2d…"
            onChange={(e) => setText(e.target.value)}
          />
          <span className={styles.hint}>{t("thread.jump.hint")}</span>
        </label>
        <label className={styles.label}>
          {t("thread.jump.day")}
          <input
            type="datetime-local"
            className={styles.field}
            onChange={(e) => setText(e.target.value.replace("T", " "))}
          />
        </label>
        {problem !== null && (
          <p className={styles.error} role="alert">
            <Icon name="error" />
            <span>{problem}</span>
          </p>
        )}
        <div className={styles.actions}>
          <Button onClick={onClose}>{t("thread.cancel")}</Button>
          <Button type="submit" look="primary" icon="search" disabled={text.trim() === ""}>
            {t("thread.jump.go")}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
