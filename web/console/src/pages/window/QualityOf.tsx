import { part } from "../../ui/format";
import { T, t } from "../../words";
import styles from "./Item.module.css";
import type { Quality } from "./query";

const parts = ["relevance", "freshness", "accuracy", "completeness", "consistency"] as const;

/** How good content is for its window; opened, the five parts that its quality is the mean of. */
export function QualityOf({ quality }: { quality: Quality }) {
  return (
    <details className={styles.quality}>
      <summary>
        <T id="windows.quality.of" values={{ score: <b>{part(quality.score)}</b> }} />
      </summary>
      <ul>
        {parts.map((name) => (
          <li key={name} title={t(`windows.quality.why.${name}`)}>
            <span>{t(`windows.quality.${name}`)}</span>
            <span className={styles.bar} aria-hidden="true">
              <span style={{ width: `${quality[name] * 100}%` }} />
            </span>
            <b>{part(quality[name])}</b>
          </li>
        ))}
      </ul>
    </details>
  );
}
