import { Link } from "wouter";
import { t } from "../../words";
import type { Cited } from "./query";
import styles from "./References.module.css";

const most = 240; // characters of a message that stand in a table

/** A message in a table: its number leads to it, another link to its own references. */
export function MessageText({
  message: { hash, sequence, content },
}: {
  message: Pick<Cited, "hash" | "sequence" | "content">;
}) {
  return (
    <span className={styles.message}>
      <Link href={`/messages/${hash}`}>{t("references.numbered", { n: String(sequence) })}</Link>{" "}
      <span dir="auto">{content === null ? <i>{t("ui.erased")}</i> : content.slice(0, most)}</span>{" "}
      <Link href={`/messages/${hash}/references`} className={styles.go}>
        {t("references.go")}
      </Link>
    </span>
  );
}
