import { useQuery } from "urql";
import { IconButton } from "../../ui/Button";
import { FullHash, ShortHash } from "../../ui/Hash";
import { isEmptyJson, Json } from "../../ui/Json";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { RecordQuery } from "./query";
import styles from "./RecordsPage.module.css";

/** One record with everything, beside the list. */
export function RecordPanel({ hash, onClose }: { hash: string; onClose: () => void }) {
  const [{ data, error, fetching }, again] = useQuery({ query: RecordQuery, variables: { hash } });
  const r = data?.record?.hash === hash ? data.record : null;
  return (
    <aside className={styles.panel} aria-label="Record">
      <header className={styles.panelHead}>
        <h2>Record</h2>
        <ShortHash hash={hash} />
        <IconButton icon="close" label="Close the record" action="panel.close" onClick={onClose} />
      </header>
      {r ? (
        <div className={styles.panelBody}>
          <p className={styles.book}>
            {r.kind === "ACCOUNTANT" ? "Ledger" : "Secretary"}: <bdi>{r.book}</bdi>
          </p>
          <h3 dir="auto">{r.title}</h3>
          <p className={styles.content} dir="auto">
            {r.content}
          </p>
          <p className={styles.book}>
            Added <Time at={r.createdAt} />, {r.verified ? "vouched for by whoever added it" : "not vouched for"}
          </p>
          {!isEmptyJson(r.data) && <Json value={r.data} label="Data" />}
          <FullHash hash={r.hash} />
        </div>
      ) : error ? (
        <ErrorScreen error={error} retry={() => again({ requestPolicy: "network-only" })} />
      ) : fetching ? (
        <Loading what="the record" />
      ) : (
        <Screen icon="search" title="No record has this hash">
          The link may be cut short, or lead to another log.
        </Screen>
      )}
    </aside>
  );
}
