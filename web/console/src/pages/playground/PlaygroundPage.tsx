import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { Provider } from "urql";
import { newClient } from "../../api/client";
import { type SessionState, whoAmI } from "../../api/session";
import { SealBanner } from "../../app/SealBanner";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { Loading, Screen } from "../../ui/Screen";
import { SignIn } from "../signin/SignIn";
import styles from "./PlaygroundPage.module.css";

const Editor = lazy(() => import("./Editor"));

/** GraphiQL, from this server's own build. A document of its own, with a looser content policy for its editor. */
export function PlaygroundPage({ first }: { first: Promise<SessionState> }) {
  useTitle("Playground");
  const [state, setState] = useState<SessionState>({ kind: "checking" });
  const client = useMemo(() => newClient(() => setState({ kind: "signedOut", reason: "Your session has ended." })), []);
  useEffect(() => {
    void first.then(setState);
  }, [first]);
  if (state.kind === "checking") return <Loading what="your session" />;
  if (state.kind === "signedOut") return <SignIn reason={state.reason} onState={setState} />;
  if (state.kind === "unreachable") {
    const again = (
      <Button icon="retry" onClick={() => void whoAmI().then(setState)}>
        Try again
      </Button>
    );
    return (
      <main>
        <Screen icon="server" tone="bad" title="The server does not answer" action={again}>
          {state.reason}
        </Screen>
      </main>
    );
  }
  return (
    <div className={styles.page}>
      <Provider value={client}>
        <SealBanner />
      </Provider>
      <header className={styles.head}>
        <a href="/threads">
          <Icon name="back" />
          Console
        </a>
        <h1>Playground</h1>
        <p>The API at /graphql, as whoever is signed in. What is sent here is real.</p>
      </header>
      <main className={styles.editor}>
        <Suspense fallback={<Loading what="the editor" />}>
          <Editor />
        </Suspense>
      </main>
    </div>
  );
}
