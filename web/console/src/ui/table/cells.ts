/** What a cell holds for whoever takes it away: text as it is, a number without its unit; null if there is nothing. */
export type Cell = string | number | boolean | null;

/** One column of a table: its head as people read it, its name in JSON, and its cells. */
export type Column<T> = { id: string; head: string; value: (row: T) => Cell };

// A spreadsheet takes what begins so for a formula.
const formula = /^[=+\-@\t\r]/;

function field(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Rows as CSV by RFC 4180: lines end in CRLF, the first one names the columns. Text that a spreadsheet would run as a
 * formula gets a single quote in front; numbers never do.
 */
export function csvOf<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const lines = [columns.map((c) => field(c.head)), ...rows.map((row) => columns.map((c) => field(c.value(row))))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** Rows as JSON: an array of objects by the columns' names, with every value as it is. */
export function jsonOf<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const objects = rows.map((row) => Object.fromEntries(columns.map((c) => [c.id, c.value(row)])));
  return `${JSON.stringify(objects, null, 2)}\n`;
}
