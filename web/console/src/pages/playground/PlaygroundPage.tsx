import { lazy, Suspense, useEffect, useState } from "react";
import { has, isAdmin, roleWord } from "../../api/rights";
import { type SessionState, whoAmI } from "../../api/session";
import { EndedBanner } from "../../app/Ended";
import { SealBanner } from "../../app/SealBanner";
import { SignedIn } from "../../app/SignedIn";
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
  const { identity } = state;
  return (
    <SignedIn key={`${identity.player} ${identity.role}`} identity={identity} onState={setState}>
      <div className={styles.page}>
        <EndedBanner />
        {has(identity, "verify") && <SealBanner />}
        <header className={styles.head}>
          <a href="/threads">
            <Icon name="back" />
            Console
          </a>
          <h1>Playground</h1>
          <p>
            The API at /graphql, as you: {roleWord(identity.role)}. What is sent here is real.
            {!isAdmin(identity) && " Only administrators may read the schema, so nothing is completed here."}
          </p>
        </header>
        <main className={styles.editor}>
          <Suspense fallback={<Loading what="the editor" />}>
            <Editor />
          </Suspense>
        </main>
      </div>
    </SignedIn>
  );
}
