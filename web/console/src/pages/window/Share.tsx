import { percent } from "../../ui/format";
import styles from "./Holds.module.css";

/** A share of the capacity, as a bar with its number. */
export function Share({ tokens, capacity }: { tokens: number; capacity: number }) {
  return (
    <span className={styles.share}>
      <span className={styles.bar} aria-hidden="true">
        <span style={{ width: `${Math.min(100, (100 * tokens) / capacity)}%` }} />
      </span>
      {percent(tokens / capacity)}
    </span>
  );
}
