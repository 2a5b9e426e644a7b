import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { CombinedError } from "urql";
import { codeOf } from "../api/errors";
import { t } from "../words";
import { Button } from "./Button";
import styles from "./Dialog.module.css";
import { Icon, type IconName } from "./icons";
import { Why } from "./Why";

type Props = {
  title: string;
  /** What it means to go on, said plainly, and what is asked for. */
  children: ReactNode;
  icon: IconName;
  confirm: string;
  /** Whether all is there that is asked for; true unless given. */
  ready?: boolean;
  /** Carries it out, and gives what went wrong; null if nothing did, and then the dialog is closed. */
  onConfirm: () => Promise<CombinedError | null>;
  onClose: () => void;
};

/** Asks before something that cannot be taken back. Esc leaves without doing it. */
export function ConfirmDialog({ title, children, icon, confirm, ready = true, onConfirm, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titled = useId();
  const [error, setError] = useState<CombinedError | null>(null);
  const [running, setRunning] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!ready || running) return;
    setRunning(true);
    const wrong = await onConfirm();
    if (!wrong) return onClose();
    setError(wrong);
    setRunning(false);
  };
  const onKeyDown = (event: KeyboardEvent) => event.stopPropagation(); // keys here are not the page's
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={titled} onClose={onClose} onKeyDown={onKeyDown}>
      <form className={styles.form} onSubmit={(e) => void submit(e)}>
        <h2 id={titled}>{title}</h2>
        {children}
        {error && (
          <p className={styles.error} role="alert">
            <Icon name="error" />
            <span>
              <Why error={error} /> <code>{codeOf(error)}</code>
            </span>
          </p>
        )}
        <div className={styles.actions}>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" icon={icon} className={styles.danger ?? ""} disabled={!ready || running}>
            {running ? t("ui.working") : confirm}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
