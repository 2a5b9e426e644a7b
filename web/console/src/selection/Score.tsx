import { precise } from "../ui/format";
import { t } from "../words";
import type { Explanation } from "./query";
import styles from "./Score.module.css";
import { scoreParts } from "./score";

/** A score as a bar of its parts, each named with its number, to the last digit. */
export function Score({ score, explanation: e }: { score: number; explanation: Explanation }) {
  const parts = scoreParts(score, e);
  return (
    <div className={styles.score}>
      <div className={styles.bar} aria-hidden="true">
        {parts.map((p) => (
          <span key={p.name} data-part={p.name} style={{ width: `${p.width * 100}%` }} />
        ))}
      </div>
      <ul className={styles.parts} aria-label={t("selection.score.parts")}>
        {parts.map((p) => (
          <li key={p.name}>
            <span className={styles.swatch} data-part={p.name} aria-hidden="true" />
            {t(`selection.score.${p.name}`)} <b>{precise(p.value)}</b>
          </li>
        ))}
        <li className={styles.sum}>
          {t("selection.score.sum", {
            relevance: precise(e.relevance),
            recency: precise(e.recency),
            preference: precise(e.preference),
          })}{" "}
          <b>{precise(score)}</b>
        </li>
      </ul>
    </div>
  );
}
