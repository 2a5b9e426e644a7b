import { Suspense, useCallback, useMemo } from "react";
import { useClient, useQuery } from "urql";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { Button } from "../../ui/Button";
import { count, percent, short } from "../../ui/format";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { lazily, t } from "../../words";
import { Gauge } from "../windows/Gauge";
import { Body, type PartProps } from "./Body";
import { operationColumns } from "./columns";
import { type Point, pointsOf } from "./fill";
import styles from "./History.module.css";
import { OperationRow } from "./OperationRow";
import { itemsOf } from "./parts";
import { FillQuery, OperationsQuery } from "./query";

const Chart = lazily(() => import("./Chart"));

/** How full a window was over time, and everything that was done to it, the latest first. */
export function History(props: PartProps) {
  return (
    <Body label={t("windows.which.history")}>
      <Gauge {...props.window} large />
      <Fill key={`fill ${props.turn}`} {...props} />
      <Operations key={`done ${props.turn}`} {...props} />
    </Body>
  );
}

function Fill({ window: { id, capacity } }: PartProps) {
  const [{ data, error }, again] = useQuery({
    query: FillQuery,
    variables: { id },
  });
  const points = useMemo(() => {
    const found = data?.window?.operations;
    return found
      ? pointsOf(
          found.edges.map((e) => e.node),
          found.totalCount,
          capacity,
        )
      : [];
  }, [data, capacity]);
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  if (!data) return <Loading what={t("windows.history")} />;
  if (points.length === 0) return null;
  const columns: Shown<Point>[] = [
    { id: "n", head: t("windows.column.n"), numeric: true, value: (p) => p.n, cell: (p) => count(p.n) },
    { id: "at", head: t("windows.column.at"), value: (p) => p.at, cell: (p) => <Time at={p.at} /> },
    { id: "kind", head: t("windows.column.kind"), value: (p) => p.kind, cell: (p) => t(`windows.kind.${p.kind}`) },
    {
      id: "tokens",
      head: t("windows.column.after"),
      numeric: true,
      value: (p) => p.tokens,
      cell: (p) => count(p.tokens),
    },
    {
      id: "usage",
      head: t("windows.usage"),
      numeric: true,
      value: (p) => p.usage,
      cell: (p) => percent(p.usage),
    },
  ];
  return (
    <div className={styles.part}>
      <figure className={styles.figure}>
        <figcaption>
          <h2>{t("windows.history")}</h2> <span>{t("windows.history.note", { n: points.length })}</span>
        </figcaption>
        <Suspense fallback={<div className={styles.chart} />}>
          <Chart points={points} />
        </Suspense>
      </figure>
      <details className={styles.table}>
        <summary>{t("windows.history.table")}</summary>
        <Table
          id="operations"
          name={t("windows.history")}
          columns={columns}
          rows={points.toReversed()}
          keyOf={(p) => p.id}
        />
      </details>
    </div>
  );
}

function Operations(props: PartProps) {
  const { window, read } = props;
  const client = useClient();
  const pages = usePages(
    useCallback(
      async (after: string | null) => {
        const { window: of } = await ask(client, OperationsQuery, {
          id: window.id,
          after,
          count: after === null,
          read,
        });
        return of ? pageOf(of.operations) : { items: [], endCursor: null, hasNextPage: false };
      },
      [client, window.id, read],
    ),
  );
  const items = useMemo(() => itemsOf(window), [window]);
  return (
    <div className={styles.part}>
      <div className={styles.head}>
        <h2>{t("windows.operations")}</h2>
        <Take
          name={t("windows.operations")}
          file={`operations-${short(window.id)}`}
          columns={operationColumns()}
          rows={pages.fetchPage}
          request={{ query: OperationsQuery, variables: { id: window.id, after: null, count: true, read } }}
        />
      </div>
      {pages.items.length === 0 && pages.loading && <Loading what={t("windows.operations")} />}
      {pages.items.length === 0 && !pages.loading && !pages.error && (
        <p className={styles.none}>{t("windows.operations.none")}</p>
      )}
      <ol className={styles.log} aria-label={t("windows.operations")}>
        {pages.items.map((o) => (
          <li key={o.id}>
            <OperationRow {...props} operation={o} items={items} />
          </li>
        ))}
      </ol>
      {pages.error && <ErrorScreen error={pages.error} retry={() => void pages.more()} />}
      {pages.hasMore && !pages.error && (
        <div>
          <Button icon="down" disabled={pages.loading} onClick={() => void pages.more()}>
            {t("windows.operations.more", { n: pages.items.length, of: pages.totalCount ?? pages.items.length })}
          </Button>
        </div>
      )}
    </div>
  );
}
