import { Suspense } from "react";
import { part } from "../../ui/format";
import { Table } from "../../ui/table/Table";
import { lazily, locale, t } from "../../words";
import styles from "./OverviewPage.module.css";
import type { Sample } from "./samples";

const Chart = lazily(() => import("./Chart"));

const number = (n: number | null): string => (n === null ? t("overview.untold") : part(n));
const clock = (at: number): string => new Date(at).toLocaleTimeString(locale());

/** Appends a second and how far sealing is behind, over the last minutes, as charts and as a table. */
export function Pace({ samples, sealing }: { samples: readonly Sample[]; sealing: boolean }) {
  const last = samples.at(-1);
  const columns = [
    { id: "at", head: t("overview.at"), value: (s: Sample) => s.at, cell: (s: Sample) => clock(s.at) },
    {
      id: "appends",
      head: t("overview.appends"),
      value: (s: Sample) => s.appends,
      cell: (s: Sample) => number(s.appends),
      numeric: true as const,
    },
    {
      id: "lag",
      head: t("overview.lag"),
      value: (s: Sample) => s.lag,
      cell: (s: Sample) => number(s.lag),
      numeric: true as const,
    },
  ];
  const shown = sealing ? (["appends", "lag"] as const) : (["appends"] as const);
  return (
    <section className={styles.section} aria-labelledby="pace">
      <h2 id="pace">{t("overview.pace")}</h2>
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
        <Table
          name={t("overview.pace")}
          columns={sealing ? columns : columns.slice(0, 2)}
          rows={samples.toReversed()}
          keyOf={(s) => String(s.at)}
        />
      </details>
    </section>
  );
}
