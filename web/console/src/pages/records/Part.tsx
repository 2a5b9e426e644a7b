import type { ReactNode } from "react";
import type { DocumentInput } from "urql";
import { words } from "../../api/errors";
import type { FetchPage, Pages } from "../../api/pages";
import { Button } from "../../ui/Button";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import styles from "./RecordsPage.module.css";

type Props<T> = {
  title: string;
  /** What is on its way, in words. */
  what: string;
  none: ReactNode;
  /** The table's name in the address. */
  id: string;
  file: string;
  columns: readonly Shown<T>[];
  pages: Pages<T>;
  fetchPage: FetchPage<T>;
  keyOf: (row: T) => string;
  request: { query: DocumentInput; variables: object };
};

/** One of the lists of where a record was used: a table a page at a time. */
export function Part<T>({ title, what, none, id, file, columns, pages, fetchPage, keyOf, request }: Props<T>) {
  const { items, totalCount, loading, error, hasMore } = pages;
  return (
    <div className={styles.part}>
      <header className={styles.partHead}>
        <h2>{title}</h2>
        {items.length > 0 && (
          <Take name={title} file={file} columns={columns} rows={hasMore ? fetchPage : items} request={request} />
        )}
      </header>
      {items.length > 0 ? (
        <>
          <Table id={id} name={title} columns={columns} rows={items} keyOf={keyOf} partial={hasMore} />
          {error && <p role="alert">{t("records.more.failed", { why: words(error) })}</p>}
          {hasMore && (
            <p className={styles.more}>
              {t("records.some", { shown: items.length, all: totalCount ?? items.length })}{" "}
              <Button disabled={loading} onClick={() => void pages.more()}>
                {t(error ? "ui.again" : "records.more")}
              </Button>
            </p>
          )}
        </>
      ) : error ? (
        <ErrorScreen error={error} retry={pages.reload} />
      ) : loading ? (
        <Loading what={what} />
      ) : (
        <p className={styles.none}>{none}</p>
      )}
    </div>
  );
}
