import { type ReactNode, useId } from "react";
import styles from "./Field.module.css";
import { Icon } from "./icons";

type Control = { id: string; "aria-describedby": string; "aria-invalid": true | undefined };
type Props = {
  label: string;
  /** What to know of it: its bounds above all. */
  hint: ReactNode;
  wrong?: string | undefined;
  children: (control: Control) => ReactNode;
};

/** A field with its label, what to know of it, and what is wrong with it. */
export function Field({ label, hint, wrong, children }: Props) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}hint`, "aria-invalid": wrong ? true : undefined })}
      <div id={`${id}hint`}>
        {wrong && <Wrong>{wrong}</Wrong>}
        <p className={styles.hint}>{hint}</p>
      </div>
    </div>
  );
}

/** What is wrong, beside what it is wrong with. */
export function Wrong({ children }: { children: ReactNode }) {
  return (
    <p className={styles.wrong} role="alert">
      <Icon name="error" size={14} />
      <span>{children}</span>
    </p>
  );
}
