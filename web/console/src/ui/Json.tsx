import { t } from "../words";
import { Copy } from "./Hash";
import styles from "./Json.module.css";

/** A JSON value, readable: text only, never links. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <div className={styles.box}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.scroll} tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <Copy text={text} label={t("ui.json")} />
    </div>
  );
}

/** Whether a JSON value holds nothing worth showing. */
export function isEmptyJson(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
}
