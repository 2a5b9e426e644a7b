import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import type { Pages } from "../api/pages";
import { t } from "../words";
import { Button } from "./Button";
import styles from "./List.module.css";
import { ErrorScreen, Loading } from "./Screen";

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
  /** Lets the page scroll to an index. */
  scrollTo?: RefObject<((index: number) => void) | null>;
};

/**
 * A list in a scrolling box that keeps only the rows in view in the document, and fetches the next page as its end
 * comes near.
 */
export function List<T>({ pages, what, keyOf, row, empty, estimate, scrollTo }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const { items, loading, error, hasMore, more } = pages;
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    getItemKey: (index) => keyOf(items[index] as T),
    estimateSize: () => estimate,
    overscan: 6,
  });
  const seen = rows.getVirtualItems();
  const last = seen[seen.length - 1]?.index ?? -1;
  useEffect(() => {
    if (hasMore && !loading && !error && last >= items.length - 10) void more();
  }, [hasMore, loading, error, last, items.length, more]);
  useEffect(() => {
    if (!scrollTo) return;
    scrollTo.current = (index) => rows.scrollToIndex(index, { align: "center" });
    return () => {
      scrollTo.current = null;
    };
  }, [scrollTo, rows]);

  if (items.length === 0) {
    if (error) return <ErrorScreen error={error} retry={pages.reload} />;
    return loading ? <Loading what={t(`ui.list.${what}`)} /> : empty;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section ref={box} className={styles.box} tabIndex={0} aria-label={t(`ui.list.${what}`)}>
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
        {t("ui.list.failed", { what: t(`ui.list.${what}`), why: error.message })}
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
