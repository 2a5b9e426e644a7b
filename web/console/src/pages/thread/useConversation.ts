import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { Ranges } from "../../api/ranges";
import { useSession } from "../../api/session";
import type { Subject } from "../../chain/verify";
import { type Filter, filterKey, matchOf, readFilter } from "../../filter/match";
import { useSearchParams } from "../../ui/useSearchParams";
import type { MessageRow } from "./query";
import { Source } from "./source";

/** A conversation as its address says: the messages that match, by ranges. */
export type Conversation = {
  filter: Filter;
  /** Whether some messages are left out. */
  filtered: boolean;
  source: Source;
  ranges: Ranges<MessageRow>;
  /** How many match; null until it is known. */
  total: number | null;
  /** Gives the row at a position once it is there; null if it cannot be had. */
  rowAt: (position: number) => Promise<MessageRow | null>;
};

const hashOf = (m: MessageRow): string => m.hash;

/** The conversation of a subject under the filter in the address. "The last 24 hours" end when the filter is set. */
export function useConversation(subject: Subject): Conversation {
  const [params] = useSearchParams();
  const { fetch } = useSession();
  const key = filterKey(params);
  const filter = useMemo(() => readFilter(new URLSearchParams(key)), [key]);
  const source = useMemo(() => new Source(fetch, subject, matchOf(filter, Date.now())), [fetch, subject, filter]);
  const ranges = useMemo(() => new Ranges(source.range, {}, hashOf), [source]);
  useSyncExternalStore(ranges.subscribe, ranges.snapshot);
  const waiting = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      waiting.current?.abort();
      ranges.stop();
    },
    [ranges],
  );
  const rowAt = useCallback(
    (position: number) => {
      waiting.current?.abort();
      waiting.current = new AbortController();
      return ranges.wait(position, waiting.current.signal);
    },
    [ranges],
  );
  return { filter, filtered: source.match !== null, source, ranges, total: ranges.total, rowAt };
}
