import { useQuery } from "urql";
import { Link } from "wouter";
import { ShortHash } from "../../ui/Hash";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Side } from "../../ui/Side";
import { t } from "../../words";
import { RecordQuery } from "./query";
import styles from "./RecordsPage.module.css";
import { RecordText } from "./RecordText";

/** One record beside the list. Its own page tells where it was used, too. */
export function RecordPanel({ hash, onClose }: { hash: string; onClose: () => void }) {
  const [{ data, error, fetching }, again] = useQuery({ query: RecordQuery, variables: { hash } });
  const r = data?.record?.hash === hash ? data.record : null;
  return (
    <Side title={t("records.one")} close={t("records.close")} onClose={onClose} note={<ShortHash hash={hash} />}>
      {r ? (
        <>
          <RecordText record={r} heading />
          <p className={styles.full}>
            <Link href={`/records/${hash}`}>{t("records.open")}</Link>
          </p>
        </>
      ) : error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : fetching ? (
        <Loading what={t("records.loading")} />
      ) : (
        <Screen icon="search" title={t("records.unknown")}>
          {t("records.unknown.help")}
        </Screen>
      )}
    </Side>
  );
}
