import { useCallback, useEffect, useRef, useState } from "react";
import type { CombinedError } from "urql";
import { asCombined } from "./errors";

/** One page of a connection. */
export type Page<T> = { items: T[]; endCursor: string | null; hasNextPage: boolean; totalCount?: number };

/** Fetches the page after a cursor; null asks for the first one. Rejects with a CombinedError. */
export type FetchPage<T> = (after: string | null) => Promise<Page<T>>;

/** The pages of a list so far. error belongs to the last attempt; items stay what they were. */
export type Pages<T> = {
  items: T[];
  totalCount: number | null;
  loading: boolean;
  error: CombinedError | null;
  hasMore: boolean;
  /** Fetches the next page, and gives all items so far. Does nothing while one is on its way. */
  more: () => Promise<T[]>;
  /** Starts again from the first page. */
  reload: () => void;
  /** How each page is fetched: for whoever takes the whole list away. */
  fetchPage: FetchPage<T>;
};

type State<T> = {
  items: T[];
  end: Page<T> | null;
  loading: boolean;
  error: CombinedError | null;
  total: number | null;
};

/**
 * Reads a connection a page at a time. fetchPage must keep its identity as long as the list is the same one:
 * a new one starts again from the first page.
 */
export function usePages<T>(fetchPage: FetchPage<T>): Pages<T> {
  const [state, setState] = useState<State<T>>(begin);
  const current = useRef<{ state: State<T>; running: Promise<T[]> | null; turn: number }>({
    state: begin<T>(),
    running: null,
    turn: 0,
  });

  const more = useCallback((): Promise<T[]> => {
    const now = current.current;
    if (now.running) return now.running;
    if (now.state.end && !now.state.end.hasNextPage) return Promise.resolve(now.state.items);
    const turn = now.turn;
    const show = (state: State<T>): T[] => {
      if (turn === now.turn) {
        now.state = state;
        now.running = null;
        setState(state);
      }
      return state.items;
    };
    const before = now.state;
    setState({ ...before, loading: true, error: null });
    now.running = fetchPage(before.end?.endCursor ?? null).then(
      (page) =>
        show({
          items: [...before.items, ...page.items],
          end: page,
          loading: false,
          error: null,
          total: page.totalCount ?? before.total,
        }),
      (error) => show({ ...before, loading: false, error: asCombined(error) }),
    );
    return now.running;
  }, [fetchPage]);

  const reload = useCallback(() => {
    current.current = { state: begin<T>(), running: null, turn: current.current.turn + 1 };
    setState(begin());
    void more();
  }, [more]);

  useEffect(reload, [reload]);

  return {
    items: state.items,
    totalCount: state.total,
    loading: state.loading,
    error: state.error,
    hasMore: state.end?.hasNextPage ?? false,
    more,
    reload,
    fetchPage,
  };
}

function begin<T>(): State<T> {
  return { items: [], end: null, loading: true, error: null, total: null };
}
