import { Fragment } from "react";
import styles from "./Keys.module.css";
import { capsOf } from "./keys";

/** A key as its caps. */
export function Keys({ keys, then = " " }: { keys: string; then?: string }) {
  return (
    <span className={styles.keys}>
      {capsOf(keys).map((press, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same letter may come twice, and never changes its place
        <Fragment key={i}>
          {i > 0 && <span className={styles.then}>{then}</span>}
          {press.map((cap) => (
            <kbd key={cap}>{cap}</kbd>
          ))}
        </Fragment>
      ))}
    </span>
  );
}
