import { Link } from "wouter";
import { FullHash } from "../../ui/Hash";
import { isEmptyJson, Json } from "../../ui/Json";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import type { WholeRecord } from "./query";
import styles from "./RecordsPage.module.css";

/** A record with everything that it holds. The heading is the page's own where there is one. */
export function RecordText({ record: r, heading }: { record: WholeRecord; heading: boolean }) {
  return (
    <div className={styles.panelBody}>
      <p className={styles.book}>
        <T id="records.book" values={{ kind: t(`records.kind.${r.kind}`), book: <BookLink key="b" record={r} /> }} />
      </p>
      {heading && <h3 dir="auto">{r.title}</h3>}
      <p className={styles.content} dir="auto">
        {r.content}
      </p>
      <p className={styles.book}>
        <T id={r.verified ? "records.added" : "records.added.unvouched"} values={{ when: <Time at={r.createdAt} /> }} />
      </p>
      {!isEmptyJson(r.data) && <Json value={r.data} label={t("records.data")} />}
      <FullHash hash={r.hash} />
    </div>
  );
}

function BookLink({ record: { book } }: { record: WholeRecord }) {
  return (
    <Link className={styles.bookLink} href={`/records?book=${encodeURIComponent(book)}`} title={t("records.book.only")}>
      <bdi>{book}</bdi>
    </Link>
  );
}
