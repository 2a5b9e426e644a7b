import { useCallback, useEffect, useRef, useState } from "react";
import type { CombinedError } from "urql";
import { askApart } from "../../api/apart";
import { asCombined } from "../../api/errors";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { type Overview, OverviewQuery } from "./query";
import { type Sample, withSample } from "./samples";

/** How often the server is asked, in milliseconds. */
const pace = 2_000;

type Live = {
  /** The newest answer; it stays if a later request failed. */
  overview: Overview | null;
  /** When it came. */
  at: number;
  samples: Sample[];
  error: CombinedError | null;
};

/** Asks for the overview again and again, while the tab is shown and nobody has paused it. */
export function useOverview(paused: boolean): Live & { again: () => void } {
  const { identity, fetch } = useSession();
  const verify = has(identity, "verify");
  const [live, setLive] = useState<Live>({ overview: null, at: 0, samples: [], error: null });
  const running = useRef<AbortController | null>(null);
  const look = useCallback(async () => {
    if (running.current) return; // a slow answer is waited for, not asked for twice
    const control = new AbortController();
    running.current = control;
    try {
      const { overview } = await askApart(fetch, OverviewQuery, { verify }, control.signal);
      const at = Date.now();
      const sample = { at, appends: overview.appendsPerSecond, lag: overview.lagSeconds ?? null };
      setLive(({ samples }) => ({ overview, at, samples: withSample(samples, sample), error: null }));
    } catch (error) {
      if (control.signal.aborted) return;
      const gap = { at: Date.now(), appends: null, lag: null };
      setLive((before) => ({ ...before, samples: withSample(before.samples, gap), error: asCombined(error) }));
    } finally {
      if (running.current === control) running.current = null;
    }
  }, [fetch, verify]);
  useEffect(() => {
    const stop = () => {
      running.current?.abort();
      running.current = null;
    };
    if (paused) return stop;
    const shown = () => document.visibilityState === "visible" && void look();
    shown();
    const timer = setInterval(shown, pace);
    document.addEventListener("visibilitychange", shown);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", shown);
      stop();
    };
  }, [look, paused]);
  return { ...live, again: () => void look() };
}
