import type { FetchPage } from "../../api/pages";

/**
 * Looks for things by their ids through the pages of a list, no further than needed. found is in the order of ids; what
 * the list does not have is missing. Rejects as fetchPage does.
 */
export async function findIn<T extends { id: string }>(
  ids: readonly string[],
  fetchPage: FetchPage<T>,
): Promise<{ found: T[]; missing: string[] }> {
  const wanted = new Set(ids);
  const found = new Map<string, T>();
  for (let after: string | null = null, more = true; more && found.size < wanted.size; ) {
    const page: Awaited<ReturnType<FetchPage<T>>> = await fetchPage(after);
    for (const one of page.items) if (wanted.has(one.id)) found.set(one.id, one);
    more = page.hasNextPage && page.endCursor !== after;
    after = page.endCursor;
  }
  const all = [...wanted];
  return { found: all.flatMap((id) => found.get(id) ?? []), missing: all.filter((id) => !found.has(id)) };
}
