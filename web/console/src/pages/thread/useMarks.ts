import { useEffect, useRef, useState } from "react";
import type { Marks, Source } from "./source";

const pause = 10_000; // milliseconds between two requests while the log grows

const nothing: Marks = { marks: [], count: 0 };

/** What stands out in a conversation. Asked for again as it grows, now and then. Without an answer there is none. */
export function useMarks(source: Source, total: number | null): Marks {
  const [found, setFound] = useState<{ of: Source; marks: Marks } | null>(null);
  const last = useRef<{ of: Source; at: number } | null>(null);
  useEffect(() => {
    if (total === null || total === 0) return;
    const controller = new AbortController();
    const since = last.current?.of === source ? Date.now() - last.current.at : Number.POSITIVE_INFINITY;
    const timer = setTimeout(
      () => {
        last.current = { of: source, at: Date.now() };
        source.marks(controller.signal).then(
          (marks) => setFound({ of: source, marks }),
          () => undefined, // the list says what is wrong with the server
        );
      },
      Math.max(0, pause - since),
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [source, total]);
  return found?.of === source ? found.marks : nothing;
}
