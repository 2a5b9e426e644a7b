// Where a list was left: kept with the entry of the browser's history, so that going back and reloading find it again, and
// every other way to the list, a filter among them, begins at its top.

/** The first row in view: its number, from 0, its key, and how many pixels of it are above the view. */
export type Left = { row: number; key: string; into: number };

/** How many rows are fetched at most to get back to where a list was left. */
export const farthest = 1_000;

const beyond = 50; // rows after it that fill the view, and among which it is looked for if newer ones stand before it

type State = { left?: Left & { of: string } };

/** Where a list was left, at this entry of the history; null if at its top. */
export function leftAt(of: string): Left | null {
  const { left } = (window.history.state as State | null) ?? {};
  return left?.of === of ? left : null;
}

/** Keeps with this entry of the history where a list is now; null: at its top. */
export function leave(of: string, left: Left | null): void {
  const before = leftAt(of);
  if (before?.key === left?.key && before?.row === left?.row && before?.into === left?.into) return;
  const { left: _, ...state } = (window.history.state as State | null) ?? {};
  window.history.replaceState(left ? { ...state, left: { ...left, of } } : state, "");
}

/**
 * Where among the rows that are here the one is that was left: where it stood, or further down, and if it is gone, what
 * stands there now. Null if more rows have to be fetched first; whole: whether there are no more.
 */
export function found(keys: readonly string[], { row, key }: Left, whole: boolean): number | null {
  const at = keys.indexOf(key, row);
  const to = at < 0 ? row : at;
  if (!whole && keys.length < Math.min(to + beyond, farthest)) return null;
  return Math.min(to, keys.length - 1);
}
