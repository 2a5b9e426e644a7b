import { part } from "../../ui/format";
import type { Selected } from "./query";
import styles from "./Score.module.css";
import { type PartName, scoreParts } from "./score";

const words: Record<PartName, string> = {
  lexical: "lexical",
  neighbours: "neighbours",
  semantic: "semantic",
  recency: "recency",
  preference: "preference",
};

/** A score as a bar of its parts, each named with its number. */
export function Score({ item }: { item: Selected }) {
  const parts = scoreParts(item);
  const { relevance, recency, preference } = item.explanation;
  const extra = [recency > 0 && ` + ${part(recency)} recency`, preference > 0 && ` + ${part(preference)} preference`];
  return (
    <div className={styles.score}>
      <div className={styles.bar} aria-hidden="true">
        {parts.map((p) => (
          <span key={p.name} data-part={p.name} style={{ width: `${p.width * 100}%` }} />
        ))}
      </div>
      <ul className={styles.parts} aria-label="Parts of the score">
        {parts.map((p) => (
          <li key={p.name}>
            <span className={styles.swatch} data-part={p.name} aria-hidden="true" />
            {words[p.name]} <b>{part(p.value)}</b>
          </li>
        ))}
        <li className={styles.sum}>
          {part(relevance)} relevance{extra} = <b>{part(item.score)}</b>
        </li>
      </ul>
    </div>
  );
}
