import { Icon, type IconName } from "../../ui/icons";
import { ServerSaid } from "../../ui/ServerSaid";
import { t } from "../../words";
import styles from "./OverviewPage.module.css";
import type { Problem } from "./query";

const icons: Record<Problem["severity"], IconName> = { CRITICAL: "broken", WARNING: "warning", NOTE: "unchecked" };

/** What is wrong, the worst first; and that nothing is. */
export function Problems({ problems }: { problems: readonly Problem[] }) {
  return (
    <section className={styles.section} aria-labelledby="problems">
      <h2 id="problems">{t("overview.problems")}</h2>
      {problems.length === 0 ? (
        <p className={styles.fine}>
          <Icon name="check" /> {t("overview.fine")}
        </p>
      ) : (
        <ul className={styles.problems}>
          {problems.map((p) => (
            <li key={`${p.code} ${p.message}`} data-severity={p.severity}>
              <Icon name={icons[p.severity]} />
              <p>
                <b>
                  {t(`overview.severity.${p.severity}`)}: {t(`overview.problem.${p.code}`)}
                </b>
                <span>
                  <ServerSaid words={p.message} />
                </span>
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
