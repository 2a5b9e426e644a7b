import { startTransition, useCallback, useEffect, useRef, useState } from "react";
import { useClient } from "urql";
import { useSession } from "../../api/session";
import type { InView } from "../../chain/shown";
import { nothingChecked, type Subject, type Verification, verify } from "../../chain/verify";

/** Whether a check runs, and what it found so far. */
export type VerificationState = {
  phase: "idle" | "running" | "ended" | "cancelled";
  found: Verification;
  /** Begins anew, with the rows that are in view. */
  start: (inView: InView | null) => void;
  cancel: () => void;
};

/** Checks a thread's or session's chain on demand. Leaving the page ends the check. */
export function useVerification(subject: Subject): VerificationState {
  const client = useClient();
  const { socket, fetch } = useSession();
  const [phase, setPhase] = useState<VerificationState["phase"]>("idle");
  const [found, setFound] = useState<Verification>(nothingChecked);
  const running = useRef<AbortController | null>(null);
  const { kind, hash } = subject;

  const start = useCallback(
    (inView: InView | null) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      setFound(nothingChecked);
      setPhase("running");
      const { signal } = controller;
      // What is found is drawn when nothing more urgent is: a key that is pressed meanwhile comes first.
      const show = (found: Verification) => startTransition(() => setFound(found));
      void verify(client, fetch, socket, { kind, hash }, inView, show, signal).then(() => {
        if (!signal.aborted) startTransition(() => setPhase("ended"));
      });
    },
    [client, fetch, socket, kind, hash],
  );

  const cancel = useCallback(() => {
    running.current?.abort();
    setPhase("cancelled");
  }, []);

  useEffect(() => () => running.current?.abort(), []);
  return { phase, found, start, cancel };
}
