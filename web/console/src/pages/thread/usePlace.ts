import { useEffect, useRef, useState } from "react";
import type { Seen } from "../../ui/ranges/RangeList";
import { useSearchParams } from "../../ui/useSearchParams";
import { readTop, topFor } from "./address";
import type { Conversation } from "./useConversation";
import type { Opened } from "./useOpened";

/**
 * The place of the list in the address. begin is where the list starts, undefined until that is known, null for its
 * first row; at is where it has to go because the address was changed by going back. current is the row from which the
 * keys go on: the one that is open, the one that they went to last, or, once that is out of view, the first in view.
 */
export function usePlace({ ranges }: Conversation, opened: Opened) {
  const [params, setParams] = useSearchParams();
  const text = params.get("at");
  const written = useRef<string | null>(text);
  const started = useRef<{
    of: unknown;
    begin: { position: number; align: "start" | "middle"; into?: number } | null;
  } | null>(null);
  if (started.current?.of !== ranges) {
    const top = readTop(text);
    if (top) started.current = { of: ranges, begin: { ...top, align: "start" } };
    else if (opened.kind !== "finding") started.current = { of: ranges, begin: standing(opened) };
    written.current = text;
  }
  const onRest = (seen: Seen) => {
    if (opened.kind === "none" && (current < seen.first || current > seen.last)) setCurrent(seen.first);
    const now = topFor(seen.first, seen.into);
    if (now === written.current) return;
    written.current = now;
    setParams((p) => set(p, "at", now), { replace: true });
  };
  const gone = text !== written.current;
  if (gone) written.current = text;
  const at = gone ? (readTop(text) ?? { position: 0, into: 0 }) : null;
  const begin = started.current?.of === ranges ? started.current.begin : undefined;
  const [current, setCurrent] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other messages may begin at the same place
  useEffect(() => setCurrent(begin?.position ?? 0), [ranges, begin]);
  const openedAt = opened.kind === "open" ? opened.position : null;
  useEffect(() => {
    if (openedAt !== null) setCurrent(openedAt);
  }, [openedAt]);
  return { at, begin, current, setCurrent, onRest };
}

// Where in the list the message is that the address names; null if it is not in it.
function standing(opened: Opened): { position: number; align: "middle" } | null {
  const position = opened.kind === "open" ? opened.position : opened.kind === "moved" ? opened.place : null;
  return position === null || position < 0 ? null : { position, align: "middle" };
}

/** Puts a value into a copy of what the address holds; null takes it out. */
export function set(params: URLSearchParams, name: string, value: string | null): URLSearchParams {
  const next = new URLSearchParams(params);
  if (value === null) next.delete(name);
  else next.set(name, value);
  return next;
}
