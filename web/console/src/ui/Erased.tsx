import { Link } from "wouter";
import { type Id, t } from "../words";
import styles from "./Erased.module.css";
import { Icon } from "./icons";

/** What is known of a content that is gone: that it was erased, by a check here, or that the server says so; or neither. */
export type Gone = "erased" | "claimed" | "unrecorded";

const words: Record<Gone, Id> = {
  erased: "ui.erased",
  claimed: "ui.erased.claimed",
  unrecorded: "ui.erased.unrecorded",
};

type Props = {
  /** The message that records the erasure, as the server says: who, when and why. */
  by?: string | undefined;
  known?: Gone;
};

/** Stands where the content was that is gone. Unless told what is known of it, it gives the server's word as that. */
export function Erased({ by, known = by ? "claimed" : "unrecorded" }: Props) {
  return (
    <span className={styles.erased}>
      <Icon name="erased" size={14} />
      {t(words[known])} {by && known !== "unrecorded" && <Link href={`/messages/${by}`}>{t("ui.erased.by")}</Link>}
    </span>
  );
}
