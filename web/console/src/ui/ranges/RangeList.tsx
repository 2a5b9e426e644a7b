import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Ranges } from "../../api/ranges";
import { T, t, useLanguage } from "../../words";
import { Button } from "../Button";
import { count } from "../format";
import { ErrorScreen, Loading } from "../Screen";
import { Why } from "../Why";
import styles from "./RangeList.module.css";
import { type Align, Strip } from "./strip";

const pause = 200; // milliseconds without a scroll until the box is at rest

/** What a page can ask of its list, and what it sees of it. Positions count from 0. */
export type RangeHandle = {
  goTo: (position: number, align: Align, into?: number) => void;
};

/** Where a list is: the first and the last row that are in view, and whether nothing comes after.
 * into: how many pixels of the first row are above the view. */
export type Seen = { first: number; last: number; atEnd: boolean; into: number };

type Props<T> = {
  ranges: Ranges<T>;
  /** What the list holds, for screen readers and messages: "messages". */
  what: string;
  keyOf: (item: T) => string;
  row: (item: T, position: number) => ReactNode;
  empty: ReactNode;
  /** The usual height of a row, in pixels; each is measured once it is there. */
  estimate: number;
  /** Where the list begins. */
  begin?: { position: number; align: Align; into?: number };
  handle?: RefObject<RangeHandle | null>;
  /** Called when what is in view has changed; at rest: and is likely to stay. */
  onSeen?: (seen: Seen, atRest: boolean) => void;
  /** Called when PageUp, PageDown, Home or End has moved the view, with the position that the keyboard is at then. */
  onKeyMove?: (position: number) => void;
};

/**
 * A list of any length in a scrolling box: only the rows in view are in the document, and only those near it in memory.
 * Rows that are not there yet keep their place.
 */
export function RangeList<T>(props: Props<T>) {
  useLanguage();
  const { ranges, what, empty } = props;
  useSyncExternalStore(ranges.subscribe, ranges.snapshot);
  const { begin } = props;
  useEffect(() => {
    ranges.view(begin?.position ?? 0, (begin?.position ?? 0) + 1);
    return () => ranges.stop();
  }, [ranges, begin]);
  const at = begin?.position ?? 0;
  if (ranges.total === null) {
    const error = ranges.errorAt(at);
    return error ? <ErrorScreen error={error} retry={() => ranges.retry(at)} /> : <Loading what={what} />;
  }
  if (ranges.total === 0) return empty;
  return <Box {...props} total={ranges.total} />;
}

function Box<T>({
  ranges,
  what,
  keyOf,
  row,
  estimate,
  begin,
  handle,
  onSeen,
  onKeyMove,
  total,
}: Props<T> & { total: number }) {
  const box = useRef<HTMLElement>(null);
  const window = useRef<HTMLOListElement>(null);
  const [strip] = useState(() => new Strip(estimate));
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const seen = useSeen(strip, onSeen);

  const move = useCallback((act: () => void) => {
    act();
    draw();
  }, []);
  const started = useRef(false);
  // Rows are measured and the box is scrolled before anything is painted, so that nothing is seen to jump.
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const now = [total, el.clientHeight] as const;
    if (!started.current) {
      started.current = true;
      strip.resize(...now);
      if (begin) strip.goTo(begin.position, begin.align, begin.into);
      return draw();
    }
    let news = false;
    for (const li of window.current?.children ?? []) {
      const { position } = (li as HTMLElement).dataset;
      if (strip.measured(Number(position), li.getBoundingClientRect().height)) news = true;
    }
    if (news) {
      strip.fit();
      return draw(); // first the content gets its height, else the box could not be scrolled there
    }
    if (Math.abs(el.scrollTop - strip.scroll) >= 1) el.scrollTop = strip.scroll;
  });
  useLayoutEffect(() => {
    strip.resize(total, box.current?.clientHeight ?? 0);
    draw();
  }, [strip, total]);

  useEffect(() => {
    const el = box.current;
    if (!el) return;
    let width = el.clientWidth;
    const observer = new ResizeObserver(() => {
      if (el.clientWidth !== width) strip.forget();
      width = el.clientWidth;
      move(() => strip.resize(ranges.total ?? 0, el.clientHeight));
    });
    observer.observe(el);
    if (window.current) observer.observe(window.current); // a row in it may have changed
    return () => observer.disconnect();
  }, [strip, ranges, move]);

  const { from, to, top } = strip.drawn;
  useEffect(() => ranges.view(from, to), [ranges, from, to]);
  const { first, last, atEnd, into } = strip;
  useEffect(() => seen({ first, last, atEnd, into }), [seen, first, last, atEnd, into]);
  useFocusKept(box, window);

  const onScroll = () => {
    const el = box.current;
    if (!el) return;
    move(() => strip.scrolled(el.scrollTop));
    rest();
  };
  const rest = useLater(pause, () => {
    if (strip.rest()) draw();
  });
  useEffect(() => {
    if (!handle) return;
    handle.current = {
      goTo: (position, align, into) => move(() => strip.goTo(position, align, into)),
    };
    return () => {
      handle.current = null;
    };
  }, [handle, strip, move]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.target instanceof HTMLElement)) return;
    const page = (by: number) => {
      const before = strip.first;
      strip.scrolled(Math.min(Math.max(0, strip.scroll + by * 0.9 * strip.height), strip.length - strip.height));
      return strip.first !== before ? strip.first : by > 0 ? strip.last : 0;
    };
    const ends: Record<string, () => number> = {
      Home: () => {
        strip.goTo(0, "start");
        return 0;
      },
      End: () => {
        strip.goTo(total - 1, "end");
        return total - 1;
      },
      PageDown: () => page(1),
      PageUp: () => page(-1),
    };
    const act = ends[event.key];
    if (!act) return;
    event.preventDefault();
    move(() => onKeyMove?.(act()));
  };

  const rows: ReactNode[] = [];
  for (let position = from; position < to; position++) {
    const item = ranges.row(position);
    const place = { "data-position": position, "aria-posinset": position + 1, "aria-setsize": total };
    rows.push(
      item === undefined ? (
        <li key={`waiting ${position}`} {...place} aria-busy={ranges.errorAt(position) === null}>
          <Missing ranges={ranges} position={position} first={position === from} height={estimate} />
        </li>
      ) : (
        <li key={keyOf(item)} {...place}>
          {row(item, position)}
        </li>
      ),
    );
  }
  return (
    <section
      ref={box}
      className={styles.box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
      tabIndex={0}
      aria-label={what}
      data-list
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div className={styles.all} style={{ height: strip.length }}>
        <ol ref={window} className={styles.window} style={{ top }}>
          {rows}
        </ol>
      </div>
    </section>
  );
}

type MissingProps = {
  ranges: Pick<Ranges<unknown>, "errorAt" | "retry">;
  position: number;
  first: boolean;
  height: number;
};

// Keeps the place of a row that is on its way, or could not be had. One row of a block tells of its failure.
function Missing({ ranges, position, first, height }: MissingProps) {
  const error = ranges.errorAt(position);
  const told = error !== null && (first || ranges.errorAt(position - 1) !== error);
  return (
    <div style={{ minHeight: height }}>
      {told ? (
        <p className={styles.failed} role="alert">
          <T id="range.failed" values={{ position: position + 1, reason: <Why error={error} /> }} />
          <Button icon="retry" onClick={() => ranges.retry(position)}>
            {t("range.retry")}
          </Button>
        </p>
      ) : (
        <p className={styles.waiting}>#{count(position + 1)}</p>
      )}
    </div>
  );
}

// Tells what is in view as it changes, and once more when it has come to rest.
function useSeen(strip: Strip, onSeen: Props<unknown>["onSeen"]) {
  const tell = useRef(onSeen);
  useEffect(() => {
    tell.current = onSeen;
  });
  const later = useLater(pause, () => {
    const { first, last, atEnd, into } = strip;
    tell.current?.({ first, last, atEnd, into }, true);
  });
  return useCallback(
    (seen: Seen) => {
      tell.current?.(seen, false);
      later();
    },
    [later],
  );
}

// Calls something once nobody has asked for it for a while.
function useLater(milliseconds: number, act: () => void): () => void {
  const now = useRef(act);
  useEffect(() => {
    now.current = act;
  });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => now.current(), milliseconds);
  }, [milliseconds]);
}

// A row that has the focus may be scrolled out of the document: the box takes it over, so that keys still do something.
function useFocusKept(box: RefObject<HTMLElement | null>, window: RefObject<HTMLElement | null>): void {
  const inside = useRef(false);
  useLayoutEffect(() => {
    if (inside.current && document.activeElement === document.body) box.current?.focus({ preventScroll: true });
    inside.current = window.current?.contains(document.activeElement) ?? false;
  });
  useEffect(() => {
    const el = window.current;
    const onFocus = () => {
      inside.current = el?.contains(document.activeElement) ?? false;
    };
    document.addEventListener("focusin", onFocus);
    return () => document.removeEventListener("focusin", onFocus);
  }, [window]);
}
