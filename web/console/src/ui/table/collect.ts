import type { FetchPage } from "../../api/pages";

/** The most rows that are taken from a list at once. */
export const most = 10_000;

/** Rows that were taken; capped: there are more, which were not. */
export type Taken<T> = { rows: T[]; capped: boolean };

type How = {
  signal?: AbortSignal;
  /** Hears after each page how many rows are there, and of how many, if that is known. */
  onProgress?: (rows: number, of: number | null) => void;
};

/** Fetches all rows of a list from its beginning, a page at a time, up to the cap. Rejects as fetchPage, or when aborted. */
export async function collect<T>(fetchPage: FetchPage<T>, { signal, onProgress }: How = {}): Promise<Taken<T>> {
  const rows: T[] = [];
  let total: number | null = null;
  for (let after: string | null = null; ; ) {
    signal?.throwIfAborted();
    const page = await fetchPage(after);
    signal?.throwIfAborted();
    rows.push(...page.items);
    total = page.totalCount ?? total;
    onProgress?.(Math.min(rows.length, most), total);
    if (rows.length >= most) return { rows: rows.slice(0, most), capped: page.hasNextPage || rows.length > most };
    if (!page.hasNextPage || page.endCursor === after) return { rows, capped: false };
    after = page.endCursor;
  }
}
