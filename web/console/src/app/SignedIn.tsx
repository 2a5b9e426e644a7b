import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { Provider } from "urql";
import { newClient, newSocket } from "../api/client";
import { Comeback } from "../api/comeback";
import { type Ended, EndedContext } from "../api/ended";
import { because, type Identity, isSame, SessionContext, type SessionState, signOut, whoIsNow } from "../api/session";

type Props = { identity: Identity; onState: (state: SessionState) => void; children: ReactNode };

/**
 * Gives pages the session and the clients that ask with it. When the session ends, pages stay as they are, and what
 * they ask waits until whoever was signed in is back.
 */
export function SignedIn({ identity, onState, children }: Props) {
  const [ended, setEnded] = useState<Ended | null>(null);
  const comeback = useMemo(() => new Comeback(), []);
  const arrive = useCallback(
    (state: SessionState) => {
      onState(state);
      if (state.kind !== "signedIn" || !isSame(state.identity, identity)) return;
      setEnded(null);
      comeback.back();
    },
    [onState, identity, comeback],
  );
  useEffect(() => {
    const end = (why: string) => setEnded((before) => before ?? { why, asking: true });
    // The cookie is the browser's: in another tab somebody may have signed in since, or out.
    const look = async (refused: string | null) => {
      const state = await whoIsNow();
      if (state.kind === "signedIn") arrive(state);
      else if (state.kind === "signedOut") end(because(refused ?? "").reason || state.reason || "");
      else if (refused !== null) end(refused);
    };
    const onShown = () => {
      if (document.visibilityState === "visible") void look(null);
    };
    comeback.onEnded = (reason) => void look(reason);
    document.addEventListener("visibilitychange", onShown);
    return () => document.removeEventListener("visibilitychange", onShown);
  }, [comeback, arrive]);

  const client = useMemo(() => newClient(comeback), [comeback]);
  const socket = useMemo(() => newSocket(() => comeback.ended("")), [comeback]);
  const leave = useCallback(() => void signOut().then(onState), [onState]);
  const control = useMemo(
    () => ({ identity, socket, fetch: comeback.fetch, leave }),
    [identity, socket, comeback, leave],
  );
  const ask = useCallback((asking: boolean) => setEnded((e) => e && { ...e, asking }), []);
  const waiting = useMemo(() => ({ ended, ask, arrive }), [ended, ask, arrive]);
  return (
    <SessionContext value={control}>
      <Provider value={client}>
        <EndedContext value={waiting}>{children}</EndedContext>
      </Provider>
    </SessionContext>
  );
}
