import { type ReactNode, useId, useState } from "react";
import { t } from "../words";
import { ConfirmDialog, type Outcome } from "./ConfirmDialog";
import styles from "./Dialog.module.css";
import type { IconName } from "./icons";

/** The most bytes of UTF-8 that a reason may have. */
export const maxReason = 1024;

type Props = {
  title: string;
  /** What it means to go on, said plainly. */
  children: ReactNode;
  icon: IconName;
  confirm: string;
  /** Whether what else is asked for is there; true unless given. */
  ready?: boolean;
  /** Carries it out; done, the dialog is closed. */
  onConfirm: (reason: string) => Promise<Outcome>;
  /** Stops it while it is at work, where that can be done. */
  onStop?: (() => void) | undefined;
  onClose: () => void;
};

/** Asks for a reason before something that goes on record. Esc leaves without doing it. */
export function ReasonDialog({ children, ready = true, onConfirm, ...rest }: Props) {
  const hinted = useId();
  const [reason, setReason] = useState("");
  const bytes = new TextEncoder().encode(reason).length;
  const fits = bytes >= 1 && bytes <= maxReason && reason.trim() !== "";
  return (
    <ConfirmDialog {...rest} ready={ready && fits} onConfirm={() => onConfirm(reason)}>
      {children}
      <label className={styles.label}>
        {t("ui.reason")}
        <textarea
          required
          value={reason}
          aria-describedby={hinted}
          aria-invalid={bytes > maxReason}
          onChange={(e) => setReason(e.target.value)}
        />
        <span id={hinted} className={styles.hint}>
          {t("ui.reason.size", { most: maxReason, n: bytes, over: bytes > maxReason ? "yes" : "no" })}
        </span>
      </label>
    </ConfirmDialog>
  );
}
