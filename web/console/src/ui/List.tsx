import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useSearch } from "wouter/use-browser-location";
import type { Pages } from "../api/pages";
import { T, t } from "../words";
import { Button } from "./Button";
import styles from "./List.module.css";
import { found, leave, leftAt } from "./left";
import { ErrorScreen, Loading } from "./Screen";
import { Why } from "./Why";

/** What lists hold: each has its words. */
export type Listed =
  | "threads"
  | "components"
  | "records"
  | "messages"
  | "quarantines"
  | "tokens"
  | "selections"
  | "conversations"
  | "events"
  | "windows"
  | "entries";

type Props<T> = {
  pages: Pages<T>;
  /** What the list holds, for screen readers and messages. */
  what: Listed;
  keyOf: (item: T) => string;
  row: (item: T, index: number) => ReactNode;
  empty: ReactNode;
  /** The usual height of a row, in pixels; each is measured once it is there. */
  estimate: number;
};

/**
 * A list in a scrolling box that keeps only the rows in view in the document, and fetches the next page as its end
 * comes near. Back in the history and loaded anew it is where it was left.
 */
export function List<T>(props: Props<T>) {
  const { pages, what, empty } = props;
  const { items, loading, error, reload } = pages;
  if (items.length > 0) return <Found {...props} />;
  if (error) return <ErrorScreen error={error} retry={reload} />;
  return loading ? <Loading what={t(`ui.list.${what}`)} /> : empty;
}

// Fetches pages until the row is there at which the list was left.
function Found<T>(props: Props<T>) {
  const { pages, what, keyOf } = props;
  const { items, loading, error, hasMore, more } = pages;
  const [left] = useState(() => leftAt(what));
  const begin = useRef(left ? null : { row: 0, into: 0 });
  if (left && begin.current === null) {
    const row = found(items.map(keyOf), left, !hasMore || error !== null);
    if (row !== null) begin.current = { row, into: left.into };
  }
  const finding = begin.current === null;
  useEffect(() => {
    if (finding && !loading) void more();
  }, [finding, loading, more]);
  if (begin.current === null) return <Loading what={t(`ui.list.${what}`)} />;
  return <Box {...props} begin={begin.current} />;
}

type BoxProps<T> = Props<T> & { begin: { row: number; into: number } };

function Box<T>({ pages, what, keyOf, row, estimate, begin }: BoxProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const { items, loading, error, hasMore, more } = pages;
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    getItemKey: (index) => keyOf(items[index] as T),
    estimateSize: () => estimate,
    initialOffset: begin.row * estimate,
    scrollPaddingStart: -begin.into,
    overscan: 6,
  });
  // Rows have their heights only once they are there: it goes on until the one that is meant is where it was.
  useLayoutEffect(() => {
    if (begin.row > 0 || begin.into > 0) rows.scrollToIndex(begin.row, { align: "start" });
  }, [rows, begin]);
  const seen = rows.getVirtualItems();
  const last = seen[seen.length - 1]?.index ?? -1;
  useEffect(() => {
    if (hasMore && !loading && !error && last >= items.length - 10) void more();
  }, [hasMore, loading, error, last, items.length, more]);
  const note = () => {
    const offset = rows.scrollOffset ?? 0;
    const first = rows.getVirtualItemForOffset(offset);
    const top = offset <= 0 || !first;
    leave(what, top ? null : { row: first.index, key: String(first.key), into: Math.round(offset - first.start) });
  };
  const search = useSearch();
  // biome-ignore lint/correctness/useExhaustiveDependencies: at rest, and at each entry of the history that shows the list
  useEffect(() => {
    if (!rows.isScrolling) note();
  }, [rows.isScrolling, search]);

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section ref={box} className={styles.box} tabIndex={0} aria-label={t(`ui.list.${what}`)} onClickCapture={note}>
      <div className={styles.all} style={{ height: rows.getTotalSize() }}>
        <ol className={styles.window} style={{ transform: `translateY(${seen[0]?.start ?? 0}px)` }}>
          {seen.map((v) => (
            <li
              key={v.key}
              ref={rows.measureElement}
              data-index={v.index}
              aria-posinset={v.index + 1}
              aria-setsize={hasMore ? -1 : items.length}
            >
              {row(items[v.index] as T, v.index)}
            </li>
          ))}
        </ol>
      </div>
      <End pages={pages} what={what} />
    </section>
  );
}

function End<T>({ pages, what }: { pages: Pages<T>; what: Listed }) {
  const { items, totalCount, error, hasMore } = pages;
  if (error) {
    return (
      <div className={styles.end} role="alert">
        <T id="ui.list.failed" values={{ what: t(`ui.list.${what}`), why: <Why error={error} /> }} />
        <Button icon="retry" onClick={() => void pages.more()}>
          {t("ui.again")}
        </Button>
      </div>
    );
  }
  if (hasMore) return <p className={styles.end}>{t("ui.list.more", { what: t(`ui.list.${what}`) })}</p>;
  return (
    <p className={styles.end}>
      {totalCount === null || totalCount === items.length
        ? t(`ui.list.all.${what}`, { n: items.length })
        : t("ui.list.end", { what: t(`ui.list.${what}`) })}
    </p>
  );
}
