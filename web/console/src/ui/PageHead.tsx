import type { ReactNode } from "react";
import styles from "./PageHead.module.css";

/** The top of a page: its title, a note beside it, and what can be done. */
export function PageHead({ title, note, children }: { title: ReactNode; note?: ReactNode; children?: ReactNode }) {
  return (
    <div className={styles.head}>
      <div className={styles.words}>
        <h1>{title}</h1>
        {note && <p className={styles.note}>{note}</p>}
      </div>
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}
