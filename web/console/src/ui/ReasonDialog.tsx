import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { CombinedError } from "urql";
import { describe } from "../api/errors";
import { Button } from "./Button";
import styles from "./Dialog.module.css";
import { count } from "./format";
import { Icon, type IconName } from "./icons";

/** The most bytes of UTF-8 that a reason may have. */
export const maxReason = 1024;

type Props = {
  title: string;
  /** What it means to go on, said plainly. */
  children: ReactNode;
  icon: IconName;
  confirm: string;
  /** Carries it out, and gives what went wrong; null if nothing did, and then the dialog is closed. */
  onConfirm: (reason: string) => Promise<CombinedError | null>;
  onClose: () => void;
};

/** Asks for a reason before something that cannot be taken back. Esc leaves without doing it. */
export function ReasonDialog({ title, children, icon, confirm, onConfirm, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titled = useId();
  const hinted = useId();
  const [reason, setReason] = useState("");
  const [error, setError] = useState<CombinedError | null>(null);
  const [running, setRunning] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const bytes = new TextEncoder().encode(reason).length;
  const fits = bytes >= 1 && bytes <= maxReason && reason.trim() !== "";

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!fits || running) return;
    setRunning(true);
    const wrong = await onConfirm(reason);
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
        <label className={styles.label}>
          Reason, for the record
          <textarea
            required
            value={reason}
            aria-describedby={hinted}
            aria-invalid={bytes > maxReason}
            onChange={(e) => setReason(e.target.value)}
          />
          <span id={hinted} className={styles.hint}>
            1 to {count(maxReason)} bytes; {count(bytes)} now{bytes > maxReason && ": too many"}
          </span>
        </label>
        {error && (
          <p className={styles.error} role="alert">
            <Icon name="error" />
            <span>
              {describe(error).detail} <code>{describe(error).code}</code>
            </span>
          </p>
        )}
        <div className={styles.actions}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" icon={icon} className={styles.danger ?? ""} disabled={!fits || running}>
            {running ? "Working…" : confirm}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
