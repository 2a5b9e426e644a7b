import { Icon } from "../../ui/icons";
import { t } from "../../words";
import styles from "./OverviewPage.module.css";
import type { Overview } from "./query";

type Model = NonNullable<Overview["embeddingModels"]>[number];

/** What is being embedded by each model, and what keeps one from going on. */
export function Embedding({ models }: { models: readonly Model[] }) {
  return (
    <section className={styles.section} aria-labelledby="embedding">
      <h2 id="embedding">{t("overview.embedding")}</h2>
      {models.length === 0 && <p className={styles.note}>{t("overview.embedding.none")}</p>}
      <ul className={styles.models}>
        {models.map((m) => (
          <li key={m.name}>
            <p>
              <b>{m.name}</b> {t(`overview.model.${m.state}`)}
            </p>
            {m.outstanding > 0 ? (
              <label>
                <progress max={m.embedded + m.outstanding} value={m.embedded} />{" "}
                {t("overview.embedding.running", { n: m.embedded, of: m.embedded + m.outstanding })}
              </label>
            ) : (
              <p className={styles.note}>{t("overview.embedding.done", { n: m.embedded })}</p>
            )}
            {m.lastError && (
              <p className={styles.stale}>
                <Icon name="warning" size={14} /> <span>{m.lastError}</span>
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
