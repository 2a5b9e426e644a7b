import { words } from "../../api/errors";
import type { Pages } from "../../api/pages";
import { Button } from "../../ui/Button";
import { count, nameOf, short } from "../../ui/format";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import { MessageText } from "./MessageText";
import { type Cited, CitedByQuery } from "./query";
import styles from "./References.module.css";
import { useFetchCited } from "./useCited";

/** The messages that were later sent with a message. */
export function CitedBy({ of, pages }: { of: string; pages: Pages<Cited> }) {
  const { items, totalCount, loading, error, hasMore } = pages;
  const fetchPage = useFetchCited(of);
  const columns = citedColumns();
  const title = totalCount === null ? t("references.citedBy.untold") : t("references.citedBy", { n: totalCount });
  return (
    <div className={styles.part}>
      <header className={styles.head}>
        <h2>{title}</h2>
        {items.length > 0 && (
          <Take
            name={title}
            file={`cited-by-${short(of)}`}
            columns={columns}
            rows={hasMore ? fetchPage : items}
            request={{ query: CitedByQuery, variables: { hash: of, after: null, count: true } }}
          />
        )}
      </header>
      {items.length > 0 ? (
        <>
          <Table id="citedBy" name={title} columns={columns} rows={items} keyOf={(m) => m.hash} partial={hasMore} />
          {error && (
            <p className={styles.problem} role="alert">
              {t("references.more.failed", { why: words(error) })}
            </p>
          )}
          {hasMore && (
            <p className={styles.more}>
              {t("references.shown", { shown: items.length, all: totalCount ?? items.length })}{" "}
              <Button disabled={loading} onClick={() => void pages.more()}>
                {t(error ? "ui.again" : "references.more")}
              </Button>
            </p>
          )}
        </>
      ) : error ? (
        <ErrorScreen error={error} retry={pages.reload} />
      ) : loading ? (
        <Loading what={t("ui.list.messages")} />
      ) : (
        <p className={styles.none}>{t("references.citedBy.none")}</p>
      )}
    </div>
  );
}

/** The columns of a table of messages. */
export const citedColumns = (): Shown<Cited>[] => [
  { id: "at", head: t("references.head.at"), value: (m) => m.createdAt, cell: (m) => <Time at={m.createdAt} /> },
  {
    id: "from",
    head: t("references.head.from"),
    value: (m) => nameOf(m.owner),
    cell: (m) => <PlayerName player={m.owner} link />,
  },
  { id: "text", head: t("references.head.text"), value: (m) => m.content, cell: (m) => <MessageText message={m} /> },
  {
    id: "sequence",
    head: t("references.head.sequence"),
    numeric: true,
    value: (m) => m.sequence,
    cell: (m) => count(m.sequence),
  },
  {
    id: "hash",
    head: t("references.head.hash"),
    value: (m) => m.hash,
    cell: (m) => <code title={m.hash}>{short(m.hash)}</code>,
  },
];
