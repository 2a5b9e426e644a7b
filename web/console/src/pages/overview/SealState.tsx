import { Link } from "wouter";
import { count, part } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import styles from "./OverviewPage.module.css";
import type { Overview } from "./query";

/** How much of the log is sealed, when, and by whom that was cosigned. As the server says: the seal's page checks it. */
export function SealState({ of: { checkpoint: c, cosigners, outstanding, lagSeconds } }: { of: Overview }) {
  return (
    <section className={styles.section} aria-labelledby="sealed">
      <h2 id="sealed">{t("overview.seal")}</h2>
      {c ? (
        <dl className={styles.facts}>
          <div>
            <dt>{t("overview.seal.size")}</dt>
            <dd>{count(c.size)}</dd>
          </div>
          <div>
            <dt>{t("overview.seal.root")}</dt>
            <dd>
              <code className={styles.root}>{c.root}</code> <Copy text={c.root} label={t("overview.seal.copy")} />
            </dd>
          </div>
          <div>
            <dt>{t("overview.seal.when")}</dt>
            <dd>
              <Time at={c.signedAt} />
            </dd>
          </div>
          <div>
            <dt>{t("overview.seal.cosigners")}</dt>
            <dd>
              {cosigners && cosigners.length > 0 ? (
                <ul className={styles.names}>
                  {cosigners.map((name) => (
                    <li key={name}>
                      <Icon name="witnessed" size={14} /> <bdi>{name}</bdi>
                    </li>
                  ))}
                </ul>
              ) : (
                t("overview.seal.nobody")
              )}
            </dd>
          </div>
          {typeof outstanding === "number" && (
            <div>
              <dt>{t("overview.seal.waiting")}</dt>
              <dd>
                {outstanding === 0
                  ? t("overview.seal.none")
                  : t("overview.seal.outstanding", { n: outstanding, lag: part(lagSeconds ?? 0) })}
              </dd>
            </div>
          )}
        </dl>
      ) : (
        <p className={styles.note}>{t("overview.seal.never")}</p>
      )}
      <p className={styles.note}>
        <T id="overview.seal.note" components={{ link: (inside) => <Link href="/seal">{inside}</Link> }} />
      </p>
    </section>
  );
}
