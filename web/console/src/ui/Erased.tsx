import { Link } from "wouter";
import { t } from "../words";
import styles from "./Erased.module.css";
import { Icon } from "./icons";

/** Stands where the content was that is gone. by: the message that records the erasure: who, when and why. */
export function Erased({ by }: { by?: string | undefined }) {
  return (
    <span className={styles.erased}>
      <Icon name="erased" size={14} />
      {t(by ? "ui.erased" : "ui.erased.unrecorded")} {by && <Link href={`/messages/${by}`}>{t("ui.erased.by")}</Link>}
    </span>
  );
}
