import { Link } from "wouter";
import styles from "./Erased.module.css";
import { Icon } from "./icons";

/** Stands where the content was that is gone. by: the message that records the erasure: who, when and why. */
export function Erased({ by }: { by?: string | undefined }) {
  return (
    <span className={styles.erased}>
      <Icon name="erased" size={14} />
      content erased
      {by ? <Link href={`/messages/${by}`}>who, when and why</Link> : " without an erasure on record"}
    </span>
  );
}
