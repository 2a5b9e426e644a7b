import { Suspense, useEffect, useState } from "react";
import { has, isAdmin, roleWord } from "../../api/rights";
import { type SessionState, whoAmI } from "../../api/session";
import { EndedBanner } from "../../app/Ended";
import { SealBanner } from "../../app/SealBanner";
import { SignedIn } from "../../app/SignedIn";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { Loading, Screen } from "../../ui/Screen";
import { lazily, t, useLanguage } from "../../words";
import { SignIn } from "../signin/SignIn";
import styles from "./PlaygroundPage.module.css";

const Editor = lazily(() => import("./Editor"));

/** GraphiQL, from this server's own build. A document of its own, with a looser content policy for its editor. */
export function PlaygroundPage({ first }: { first: Promise<SessionState> }) {
  useLanguage(); // whatever is below is drawn again in another one
  useTitle(t("playground.title"));
  const [state, setState] = useState<SessionState>({ kind: "checking" });
  const [corner, setCorner] = useState<HTMLElement | null>(null);
  useEffect(() => {
    void first.then(setState);
  }, [first]);
  if (state.kind === "checking") return <Loading what={t("app.checking")} />;
  if (state.kind === "signedOut") return <SignIn reason={state.reason} onState={setState} />;
  if (state.kind === "unreachable") {
    const again = (
      <Button icon="retry" onClick={() => void whoAmI().then(setState)}>
        {t("app.again")}
      </Button>
    );
    return (
      <main>
        <Screen icon="server" tone="bad" title={t("app.unreachable")} action={again}>
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
            {t("playground.console")}
          </a>
          <h1>{t("playground.title")}</h1>
          <p>
            {t(isAdmin(identity) ? "playground.note" : "playground.note.closed", { role: roleWord(identity.role) })}
          </p>
          <span ref={setCorner} className={styles.corner} />
        </header>
        <main className={styles.editor}>
          <Suspense fallback={<Loading what={t("playground.editor")} />}>
            <Editor corner={corner} />
          </Suspense>
        </main>
      </div>
    </SignedIn>
  );
}
