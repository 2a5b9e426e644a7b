import type { ReactNode } from "react";
import { t } from "../../words";
import only from "../Heard.module.css";
import { useAddress } from "../useAddress";
import type { Column } from "./cells";
import { orderIn, orderName, pressed, sorted } from "./sort";
import styles from "./Table.module.css";

/** A column as it is shown. numeric: set to the right; cell: what is drawn in place of the plain value. */
export type Shown<T> = Column<T> & { numeric?: true; cell?: (row: T) => ReactNode };

type Props<T> = {
  /** Its name in the address, which holds by what it is sorted; of each table of a page another. */
  id: string;
  /** What the table holds, for screen readers. */
  name: string;
  columns: readonly Shown<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Whether rows are missing that were not loaded: sorting says that it orders only those that are here. */
  partial?: boolean;
};

/** A table whose heads sort the rows that are here. The first column names its row. Scrolls sideways where it is wide. */
export function Table<T>({ id: own, name, columns, rows, keyOf, partial = false }: Props<T>) {
  const [params, set] = useAddress();
  const order = orderIn(params, own);
  const by = columns.find((c) => c.id === order?.id);
  const shown = order && by ? sorted(rows, by, order.direction) : rows;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.scroll} tabIndex={0} aria-label={name}>
        <table className={styles.table}>
          <caption className={only.heard}>{name}</caption>
          <thead>
            <tr>
              {columns.map(({ id, head, numeric }) => {
                const direction = order?.id === id ? order.direction : undefined;
                return (
                  <th key={id} scope="col" aria-sort={direction} data-numeric={numeric}>
                    <button
                      type="button"
                      onClick={() => set({ [orderName(own)]: pressed(order, id) }, { replace: true })}
                    >
                      {head}
                      <span className={styles.arrow} aria-hidden="true">
                        {direction === "ascending" ? "↑" : direction === "descending" ? "↓" : "↕"}
                      </span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map((c, i) => {
                  const inside = c.cell ? c.cell(row) : String(c.value(row) ?? "");
                  return i === 0 ? (
                    <th key={c.id} scope="row" data-numeric={c.numeric}>
                      {inside}
                    </th>
                  ) : (
                    <td key={c.id} data-numeric={c.numeric}>
                      {inside}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {partial && by && <p className={styles.note}>{t("table.partial", { n: rows.length })}</p>}
    </>
  );
}
