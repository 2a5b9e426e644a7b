import { useQuery } from "urql";
import { IconButton } from "../../ui/Button";
import { FullHash, ShortHash } from "../../ui/Hash";
import { isEmptyJson, Json } from "../../ui/Json";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import { RecordQuery } from "./query";
import styles from "./RecordsPage.module.css";

/** One record with everything, beside the list. */
export function RecordPanel({ hash, onClose }: { hash: string; onClose: () => void }) {
  const [{ data, error, fetching }, again] = useQuery({ query: RecordQuery, variables: { hash } });
  const r = data?.record?.hash === hash ? data.record : null;
  return (
    <aside className={styles.panel} aria-label={t("records.one")}>
      <header className={styles.panelHead}>
        <h2>{t("records.one")}</h2>
        <ShortHash hash={hash} />
        <IconButton icon="close" label={t("records.close")} action="panel.close" onClick={onClose} />
      </header>
      {r ? (
        <div className={styles.panelBody}>
          <p className={styles.book}>
            <T id="records.book" values={{ kind: t(`records.kind.${r.kind}`), book: <bdi>{r.book}</bdi> }} />
          </p>
          <h3 dir="auto">{r.title}</h3>
          <p className={styles.content} dir="auto">
            {r.content}
          </p>
          <p className={styles.book}>
            <T
              id={r.verified ? "records.added" : "records.added.unvouched"}
              values={{ when: <Time at={r.createdAt} /> }}
            />
          </p>
          {!isEmptyJson(r.data) && <Json value={r.data} label={t("records.data")} />}
          <FullHash hash={r.hash} />
        </div>
      ) : error ? (
        <ErrorScreen error={error} retry={() => again({ requestPolicy: "network-only" })} />
      ) : fetching ? (
        <Loading what={t("records.loading")} />
      ) : (
        <Screen icon="search" title={t("records.unknown")}>
          {t("records.unknown.help")}
        </Screen>
      )}
    </aside>
  );
}
