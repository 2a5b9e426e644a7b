import { locale } from "../../words";
import type { Cell, Column } from "./cells";

export type Direction = "ascending" | "descending";

/** By which column a table is sorted. */
export type Order = { id: string; direction: Direction };

/** What holds in the address by which column a table is sorted: "order.limits". */
export const orderName = (table: string): string => `order.${table}`;

/** By which column the address says that a table is sorted, "-value" for the largest first; null if by none. */
export function orderIn(params: URLSearchParams, table: string): Order | null {
  const [, down, id] = /^(-?)(\w+)$/.exec(params.get(orderName(table)) ?? "") ?? [];
  return id === undefined ? null : { id, direction: down ? "descending" : "ascending" };
}

/** What the address holds once a column's head was pressed: up, down, and then as the rows came, which is null. */
export function pressed(order: Order | null, id: string): string | null {
  if (order?.id !== id) return id;
  return order.direction === "ascending" ? `-${id}` : null;
}

/** Rows by one column: text as the reader's language orders it, numbers by size; what is nothing comes last. */
export function sorted<T>(rows: readonly T[], { value }: Column<T>, direction: Direction): T[] {
  const text = new Intl.Collator(locale(), { numeric: true });
  const sign = direction === "ascending" ? 1 : -1;
  const compare = (a: Cell, b: Cell): number => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * text.compare(String(a), String(b));
  };
  return rows.toSorted((a, b) => compare(value(a), value(b)));
}
