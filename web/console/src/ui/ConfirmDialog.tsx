import { type FormEvent, type KeyboardEvent, type ReactNode, use, useEffect, useId, useRef, useState } from "react";
import type { CombinedError } from "urql";
import { keepIn } from "../actions/listen";
import { EndedContext } from "../api/ended";
import { codeOf } from "../api/errors";
import { T, t } from "../words";
import { Button } from "./Button";
import styles from "./Dialog.module.css";
import only from "./Heard.module.css";
import { Icon, type IconName } from "./icons";
import { Why } from "./Why";

/** What came of what was confirmed: what went wrong, that it was stopped before its end, or null: it is done. */
export type Outcome = CombinedError | "stopped" | null;

type Props = {
  title: string;
  /** What it means to go on, said plainly, and what is asked for. */
  children: ReactNode;
  icon: IconName;
  confirm: string;
  /** Whether all is there that is asked for; true unless given. */
  ready?: boolean;
  /** Carries it out; done, the dialog is closed. */
  onConfirm: () => Promise<Outcome>;
  /** Stops it while it is at work, where that can be done. */
  onStop?: (() => void) | undefined;
  onClose: () => void;
};

/**
 * Asks before something that cannot be taken back. Esc leaves without doing it; once it is being done, the dialog stays until
 * it can say what came of it; if the session ends meanwhile, it offers itself to sign in again, as the page behind cannot be
 * reached. Closed, the focus is where it was before.
 */
export function ConfirmDialog({ title, children, icon, confirm, ready = true, onConfirm, onStop, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titled = useId();
  const [error, setError] = useState<CombinedError | null>(null);
  const [running, setRunning] = useState(false);
  const at = useRef(false); // running, as soon as it is
  useEffect(() => dialog.current?.showModal(), []);
  const session = use(EndedContext);
  const ended = session?.ended ?? null;
  useEffect(() => {
    const at = dialog.current;
    // Back in the session, what had the focus may be gone.
    if (!ended && at && !at.contains(document.activeElement)) at.querySelector<HTMLElement>("[type=submit]")?.focus();
  }, [ended]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!ready || at.current) return;
    at.current = true;
    setError(null);
    setRunning(true);
    const wrong = await onConfirm();
    at.current = false;
    setRunning(false);
    if (wrong === "stopped") return;
    if (wrong) setError(wrong);
    else dialog.current?.close();
  };
  const leave = () => {
    if (at.current) onStop?.();
    else dialog.current?.close();
  };
  // Browsers close a dialog at the second Esc, whatever the first was answered.
  const onClosed = () => {
    if (at.current) dialog.current?.showModal();
    else onClose();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDialogElement>) => {
    keepIn(event);
    if (!at.current || event.key !== "Escape") return;
    event.preventDefault();
    onStop?.();
  };
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={titled} onClose={onClosed} onKeyDown={onKeyDown}>
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
        {session && ended && !ended.asking && (
          <div className={styles.error} role="alert">
            <Icon name="warning" />
            <span>
              <T id="app.ended" />
            </span>
            <Button onClick={() => session.ask(true)}>{t("app.ended.again")}</Button>
          </div>
        )}
        <div className={styles.actions}>
          <Button aria-disabled={running && !onStop} onClick={leave}>
            {t(running && onStop ? "ui.stop" : "ui.cancel")}
          </Button>
          {/* Not disabled while it is at work: the focus would be lost. */}
          <Button
            type="submit"
            icon={icon}
            className={styles.danger ?? ""}
            disabled={!ready && !running}
            aria-disabled={running}
          >
            {running ? t("ui.working") : confirm}
          </Button>
        </div>
        <p role="status" className={only.heard}>
          {running && t("ui.working")}
        </p>
      </form>
    </dialog>
  );
}
