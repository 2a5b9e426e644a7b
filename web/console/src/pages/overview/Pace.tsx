import { Suspense } from "react";
import { part } from "../../ui/format";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { lazily, locale, t } from "../../words";
import styles from "./OverviewPage.module.css";
import type { Sample } from "./samples";

const Chart = lazily(() => import("./Chart"));

const number = (n: number | null): string => (n === null ? t("overview.untold") : part(n));
const clock = (at: number): string => new Date(at).toLocaleTimeString(locale());

/** Appends a second and how far sealing is behind, over the last minutes, as charts and as a table. */
export function Pace({ samples, sealing }: { samples: readonly Sample[]; sealing: boolean }) {
  const last = samples.at(-1);
  const columns = sealing ? columnsOf() : columnsOf().slice(0, 2);
  const newest = samples.toReversed();
  const shown = sealing ? (["appends", "lag"] as const) : (["appends"] as const);
  return (
    <section className={styles.section} aria-labelledby="pace">
      <div className={styles.head}>
        <h2 id="pace">{t("overview.pace")}</h2>
        <Take name={t("overview.pace")} file="pace" columns={columns} rows={newest} />
      </div>
      <div className={styles.charts}>
        {shown.map((kind) => (
          <figure key={kind}>
            <figcaption>
              {t(`overview.${kind}`)} <b>{number(last?.[kind] ?? null)}</b>
            </figcaption>
            <Suspense fallback={<div className={styles.chart} />}>
              <Chart times={samples.map((s) => s.at)} values={samples.map((s) => s[kind])} kind={kind} />
            </Suspense>
          </figure>
        ))}
      </div>
      <details className={styles.table}>
        <summary>{t("overview.table")}</summary>
        <Table id="pace" name={t("overview.pace")} columns={columns} rows={newest} keyOf={(s) => String(s.at)} />
      </details>
    </section>
  );
}

const columnsOf = (): Shown<Sample>[] => [
  { id: "at", head: t("overview.at"), value: (s) => new Date(s.at).toISOString(), cell: (s) => clock(s.at) },
  {
    id: "appends",
    head: t("overview.appends"),
    value: (s) => s.appends,
    cell: (s) => number(s.appends),
    numeric: true,
  },
  { id: "lag", head: t("overview.lag"), value: (s) => s.lag, cell: (s) => number(s.lag), numeric: true },
];
