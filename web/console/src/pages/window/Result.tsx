import type { ReactNode } from "react";
import { Icon } from "../../ui/icons";
import styles from "./Write.module.css";

/** What came of something that was done by hand, in a line. */
export function Result({ fine, children }: { fine: boolean; children: ReactNode }) {
  return (
    <p className={styles.result} data-fine={fine}>
      <Icon name={fine ? "check" : "error"} />
      {children}
    </p>
  );
}
