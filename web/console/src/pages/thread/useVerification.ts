import { useCallback, useEffect, useRef, useState } from "react";
import { useClient } from "urql";
import { useSession } from "../../api/session";
import type { Finding } from "../../chain/check";
import { nothingChecked, type ServerBreak, type Subject, type Verification, verify } from "../../chain/verify";

/** Whether a check runs, and what it found so far. */
export type VerificationState = {
  phase: "idle" | "running" | "ended" | "cancelled";
  found: Verification;
  start: () => void;
  cancel: () => void;
};

/** Checks a thread's or session's chain on demand. Leaving the page ends the check. */
export function useVerification(subject: Subject): VerificationState {
  const client = useClient();
  const { socket } = useSession();
  const [phase, setPhase] = useState<VerificationState["phase"]>("idle");
  const [found, setFound] = useState<Verification>(nothingChecked);
  const running = useRef<AbortController | null>(null);
  const { kind, hash } = subject;

  const start = useCallback(() => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setFound(nothingChecked);
    setPhase("running");
    void verify(client, socket, { kind, hash }, setFound, controller.signal).then(() => {
      if (!controller.signal.aborted) setPhase("ended");
    });
  }, [client, socket, kind, hash]);

  const cancel = useCallback(() => {
    running.current?.abort();
    setPhase("cancelled");
  }, []);

  useEffect(() => () => running.current?.abort(), []);
  return { phase, found, start, cancel };
}

/** What is known of one message's place in the chain. */
export type LinkState = {
  kind: "unchecked" | "recomputed" | "erased" | "mismatch";
  findings: Finding[];
  server: ServerBreak[];
};

/** Looks up what a check found of a message. */
export function linkState(
  found: Verification,
  m: { hash: string; sequence: number; session: { hash: string }; content: string | null },
): LinkState {
  const session = found.browser.sessions.get(m.session.hash);
  const findings = (session?.findings ?? []).filter((f) => f.hash === m.hash && f.kind !== "tail");
  const server = found.server.breaks.filter(
    (b) => b.session === m.session.hash && (b.messageHash === m.hash || (!b.messageHash && b.sequence === m.sequence)),
  );
  if (findings.length > 0 || server.length > 0) return { kind: "mismatch", findings, server };
  if (!session || m.sequence > session.upTo) return { kind: "unchecked", findings, server };
  return { kind: m.content === null ? "erased" : "recomputed", findings, server };
}
