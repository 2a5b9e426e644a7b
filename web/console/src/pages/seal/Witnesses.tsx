import { Icon } from "../../ui/icons";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import type { Seal } from "./query";
import styles from "./SealPage.module.css";

/** Who is asked to cosign, and how far each has. sealed: size of the newest checkpoint. */
export function Witnesses({ witnesses, sealed }: { witnesses: Seal["witnesses"]; sealed: number }) {
  return (
    <section className={styles.section} aria-labelledby="witnesses">
      <h2 id="witnesses">{t("seal.witnesses")}</h2>
      {witnesses.length === 0 ? (
        <p className={styles.none}>
          <T id="seal.witnesses.none" />
        </p>
      ) : (
        <ul className={styles.list}>
          {witnesses.map((w) => (
            <li key={w.name}>
              <Icon name={w.problem ? "broken" : w.size === null ? "unchecked" : "witnessed"} />
              <span className={styles.grow}>
                <b>{w.name}</b>
                <br />
                <span className={styles.none}>{w.url}</span>
                {w.problem && (
                  <>
                    <br />
                    <span className={styles.wrong}>{t("seal.witness.problem", { why: w.problem })}</span>
                  </>
                )}
              </span>
              <span>
                {w.size === null
                  ? t("seal.witness.nothing")
                  : w.size < sealed
                    ? t("seal.witness.behind", { n: w.size, behind: sealed - w.size })
                    : t("seal.witness.size", { n: w.size })}
                {w.signedAt && (
                  <>
                    <br />
                    <Time at={w.signedAt} />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
