import { useCallback, useEffect, useMemo, useReducer, useRef } from "react";
import { useSession } from "../../api/session";
import { Crew } from "../../chain/crew";
import type { RowCheck, Shown } from "../../chain/rows";
import { checkShown, type InView } from "../../chain/shown";
import type { Seen } from "../../ui/ranges/RangeList";
import type { MessageRow } from "./query";
import type { Conversation } from "./useConversation";
import type { VerificationState } from "./useVerification";

const most = 50; // rows that are checked at a time
const beyond = 2; // rows behind the last that is wholly in view, which may be seen in part

/** What is in view of a conversation, with the one before it, which the first of them names; null if nothing is. */
export function inViewOf({ source, ranges, total }: Conversation, { first, last }: Seen): InView | null {
  const from = Math.max(0, first - 1);
  const count = Math.min(most, (total ?? 0) - from, last + beyond - from);
  const shown = Array.from({ length: Math.max(0, count) }, (_, i) => ranges.row(from + i)).filter(
    (m) => m !== undefined,
  );
  if (shown.length === 0) return null;
  return { subject: source.subject, rows: { from, count, match: source.match }, shown };
}

/**
 * Once a check has begun, holds what each row shows against the bytes that its hash covers, as rows come to rest in view: the
 * check of the chain has other answers than those that rows are drawn from. Gives what is known of a row; undefined: nothing.
 */
export function useShown(
  conversation: Conversation,
  { found }: Pick<VerificationState, "found">,
  rest: Seen | null,
): (m: MessageRow) => RowCheck | undefined {
  const { fetch } = useSession();
  const first = found.browser.rows;
  // By the very objects that are drawn: what is read again is checked again. null: there was nothing to check it by.
  const known = useMemo(() => new WeakMap<Shown, RowCheck | null>(first ?? []), [first]);
  const busy = useRef(false);
  const crew = useRef<Crew | null>(null);
  const gone = useRef<AbortController | null>(null);
  const [, draw] = useReducer((n: number) => n + 1, 0);

  useEffect(() => {
    const controller = new AbortController();
    gone.current = controller;
    return () => {
      controller.abort();
      crew.current?.close();
      crew.current = null;
      busy.current = false;
    };
  }, []);

  useEffect(() => {
    const inView = first && rest && !busy.current ? inViewOf(conversation, rest) : null;
    const shown = inView?.shown.filter((m) => !known.has(m)) ?? [];
    const { signal } = gone.current ?? {};
    if (!inView || !signal || shown.length === 0) return;
    busy.current = true;
    const checks = async () => {
      crew.current ??= new Crew(1); // a browser may refuse to start a Worker
      return await checkShown(fetch, crew.current, { ...inView, shown }, () => Promise.resolve(null), signal);
    };
    checks()
      .catch(() => {
        crew.current?.close(); // it may have failed: the next rows get another one
        crew.current = null;
        return null;
      })
      .then((checks) => {
        if (signal.aborted) return;
        for (const m of shown) known.set(m, checks?.get(m) ?? null);
        busy.current = false;
        draw();
      });
  });
  return useCallback((m) => known.get(m) ?? undefined, [known]);
}
