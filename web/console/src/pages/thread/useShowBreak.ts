import { useCallback, useState } from "react";
import type { CombinedError } from "urql";
import { useLocation } from "wouter";
import { asCombined } from "../../api/errors";
import { everything, withFilter } from "../../filter/match";
import { useSearchParams } from "../../ui/useSearchParams";
import type { Source } from "./source";
import { set } from "./usePlace";
import type { Show } from "./Verify";

/** Shows a break where it is in the list, and says why the last one could not be shown. focusRow: goes to a row. */
export function useShowBreak(source: Source, focusRow: (position: number) => void) {
  const [, setParams] = useSearchParams();
  const [, navigate] = useLocation();
  const [unshown, setUnshown] = useState<CombinedError | null>(null);
  const find: Show = useCallback(
    async (of) => {
      const row = of.hash ? null : await source.numbered(of.session, of.sequence ?? 1);
      const hash = of.hash ?? row?.hash ?? null;
      if (hash === null) return;
      const { place, matched } = await source.place(hash);
      if (matched !== null) return focusRow(matched);
      // The filter hides it: what is broken goes before what was looked for.
      if (place !== null) return setParams((p) => set(withFilter(p, everything), "at", String(place + 1)));
      navigate(`/sessions/${of.session}?message=${hash}`); // it is of the session, and not of this thread
    },
    [source, focusRow, setParams, navigate],
  );
  const show: Show = useCallback(
    async (of) => {
      setUnshown(null);
      try {
        await find(of);
      } catch (error) {
        setUnshown(asCombined(error));
      }
    },
    [find],
  );
  return { show, unshown };
}
