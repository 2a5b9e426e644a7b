import { useId } from "react";
import { t } from "../words";
import styles from "./Dialog.module.css";

/** The word that is to be typed before something is erased, and its field. */
export function TypedWord({ typed, onType }: { typed: string; onType: (typed: string) => void }) {
  const id = useId();
  return (
    <div className={styles.word}>
      <label htmlFor={id}>{t("erase.type", { word: t("erase.word") })}</label>
      <input id={id} value={typed} autoComplete="off" spellCheck={false} onChange={(e) => onType(e.target.value)} />
    </div>
  );
}

/** Whether what was typed is that word. */
export const isTheWord = (typed: string): boolean => typed.trim().toLowerCase() === t("erase.word").toLowerCase();
