import { count } from "../ui/format";
import { t } from "../words";
import type { Stage } from "./query";
import styles from "./Stages.module.css";

/** The stages as a funnel: how many came to each, how many left it for the next, and why the others did not. */
export function Stages({ stages }: { stages: readonly Stage[] | null }) {
  return (
    <div className={styles.stages}>
      <h2>{t("selection.stages")}</h2>
      {stages === null ? (
        <p className={styles.note}>{t("selection.stages.untold")}</p>
      ) : (
        <>
          <Funnel stages={stages} />
          <p className={styles.note}>{t("selection.stages.note")}</p>
        </>
      )}
    </div>
  );
}

function Funnel({ stages }: { stages: readonly Stage[] }) {
  const most = Math.max(...stages.map((s) => s.in));
  return (
    <ol className={styles.funnel}>
      {stages.map((s) => (
        <li key={s.name} data-stage={s.name}>
          <span className={styles.name}>{t(`selection.stage.${s.name}`)}</span>
          <span className={styles.picture} aria-hidden="true">
            <span className={styles.in} style={{ width: `${widthOf(s.in, most)}%` }} />
            <span className={styles.out} style={{ width: `${widthOf(s.out, most)}%` }} />
          </span>
          <span className={styles.counts}>
            {t(s.estimated ? "selection.stage.estimate" : "selection.stage.counts", {
              in: count(s.in),
              out: count(s.out),
            })}
          </span>
          {s.in > s.out && (
            <span className={styles.lost}>
              {t("selection.stage.lost", { n: s.in - s.out, why: t(`selection.stage.why.${s.name}`) })}
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

// By the logarithm: from a million to five, a width in proportion would show nothing of the last stages.
const widthOf = (n: number, most: number): number => (n === 0 ? 0 : 4 + (96 * Math.log1p(n)) / Math.log1p(most));
