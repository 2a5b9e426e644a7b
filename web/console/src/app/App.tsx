import { useCallback, useEffect, useMemo, useState } from "react";
import { Provider } from "urql";
import { useLocation } from "wouter";
import { newClient, newSocket } from "../api/client";
import { type Identity, SessionContext, type SessionState, signIn, signOut, takeToken, whoAmI } from "../api/session";
import { SignIn } from "../pages/signin/SignIn";
import { Button } from "../ui/Button";
import { Loading, Screen } from "../ui/Screen";
import { Guard } from "./Guard";
import { Pages } from "./Pages";
import { Shell } from "./Shell";

/** The console: whoever is not signed in signs in first, at whatever address they came to. */
export function App({ first }: { first: Promise<SessionState> }) {
  const [state, setState] = useState<SessionState>({ kind: "checking" });
  useEffect(() => {
    void first.then(setState);
  }, [first]);
  useEffect(() => {
    const onHash = () => {
      const token = takeToken(window.location, window.history);
      if (token) void signIn(token).then(setState);
    };
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, []);

  if (state.kind === "checking") return <Loading what="your session" />;
  if (state.kind === "signedOut") return <SignIn reason={state.reason} onState={setState} />;
  if (state.kind === "unreachable") {
    const again = () => void whoAmI().then(setState);
    return (
      <main>
        <Screen
          icon="server"
          tone="bad"
          title="The server does not answer"
          action={
            <Button icon="retry" onClick={again}>
              Try again
            </Button>
          }
        >
          {state.reason} Whether you are signed in is not known.
        </Screen>
      </main>
    );
  }
  return <SignedIn identity={state.identity} onState={setState} />;
}

function SignedIn({ identity, onState }: { identity: Identity; onState: (state: SessionState) => void }) {
  const expired = useCallback(() => onState({ kind: "signedOut", reason: "Your session has ended." }), [onState]);
  const leave = useCallback(() => void signOut().then(onState), [onState]);
  const client = useMemo(() => newClient(expired), [expired]);
  const [path] = useLocation();
  const socket = useMemo(newSocket, []);
  const control = useMemo(() => ({ identity, socket, leave }), [identity, socket, leave]);
  return (
    <SessionContext value={control}>
      <Provider value={client}>
        <Shell>
          <Guard key={path}>
            <Pages />
          </Guard>
        </Shell>
      </Provider>
    </SessionContext>
  );
}
