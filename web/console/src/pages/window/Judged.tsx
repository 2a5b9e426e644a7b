import { Link } from "wouter";
import { Icon, type IconName } from "../../ui/icons";
import { T, t } from "../../words";
import styles from "./Operation.module.css";
import type { Judgement } from "./query";
import { Text } from "./Text";

const icons: Record<Judgement["relation"], IconName> = {
  CONTRADICTS: "error",
  AGREES: "check",
  UNRELATED: "unchecked",
};

type Props = { of: readonly Judgement[]; texts: readonly string[] };

/** What judges said: both texts beside each other, how they stand, why, and who says so. */
export function Judged({ of, texts }: Props) {
  if (of.length === 0) return null;
  return (
    <div className={styles.part}>
      <h3>{t("windows.judgements")}</h3>
      {of.map((j, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an operation does not change, and may be judged the same twice
        <div key={i} className={styles.judgement} data-relation={j.relation}>
          <p className={styles.head}>
            <b className={styles.kind}>
              <Icon name={icons[j.relation]} size={14} />
              {t(`windows.relation.${j.relation}`)}
            </b>
            <span>{t("windows.judge", { by: j.by === "rules" ? t("windows.by.rules") : j.by })}</span>
            {j.overruled && <b>{t("windows.outcome.OVERRULED")}</b>}
          </p>
          <div className={styles.pair}>
            <div>
              <h4>{t("windows.pair.new")}</h4>
              {texts.length === 0 ? (
                <p className={styles.note}>{t("windows.pair.gone")}</p>
              ) : (
                texts.slice(0, 1).map((text) => <Text key={text} of={text} />)
              )}
            </div>
            <div>
              <h4>{j.record ? <Known record={j.record} /> : t("windows.pair.item")}</h4>
              <Text of={j.known} />
            </div>
          </div>
          <p>
            <T id="windows.judge.why" values={{ why: <q lang="en">{j.reason}</q> }} />
          </p>
          {j.fallback && (
            <p className={styles.note}>
              <T id="windows.fallback" values={{ why: <q lang="en">{j.fallback}</q> }} />
            </p>
          )}
        </div>
      ))}
    </div>
  );
}

function Known({ record }: { record: NonNullable<Judgement["record"]> }) {
  return (
    <T
      id="windows.pair.record"
      values={{
        record: (
          <Link href={`/records?record=${record.hash}`}>
            <bdi>{record.title}</bdi>
          </Link>
        ),
      }}
    />
  );
}
