import { locale } from "../../words";
import type { Cell, Column } from "./cells";

export type Direction = "ascending" | "descending";

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
