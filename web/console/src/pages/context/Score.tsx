import { part } from "../../ui/format";
import { t } from "../../words";
import type { Selected } from "./query";
import styles from "./Score.module.css";
import { scoreParts } from "./score";

/** A score as a bar of its parts, each named with its number. */
export function Score({ item }: { item: Selected }) {
  const parts = scoreParts(item);
  const { relevance, recency, preference } = item.explanation;
  const extra = [
    recency > 0 && t("context.sum.recency", { value: part(recency) }),
    preference > 0 && t("context.sum.preference", { value: part(preference) }),
  ];
  return (
    <div className={styles.score}>
      <div className={styles.bar} aria-hidden="true">
        {parts.map((p) => (
          <span key={p.name} data-part={p.name} style={{ width: `${p.width * 100}%` }} />
        ))}
      </div>
      <ul className={styles.parts} aria-label={t("context.parts")}>
        {parts.map((p) => (
          <li key={p.name}>
            <span className={styles.swatch} data-part={p.name} aria-hidden="true" />
            {t(`context.part.${p.name}`)} <b>{part(p.value)}</b>
          </li>
        ))}
        <li className={styles.sum}>
          {t("context.sum.relevance", { value: part(relevance) })}
          {extra} = <b>{part(item.score)}</b>
        </li>
      </ul>
    </div>
  );
}
