import { useCallback, useEffect, useState } from "react";
import { type Arrival, arrive, type Offer, type SessionState, takeToken, whoAmI } from "../api/session";
import { SignIn } from "../pages/signin/SignIn";
import { Button } from "../ui/Button";
import { Loading, Screen } from "../ui/Screen";
import { t, useLanguage } from "../words";
import { OtherToken } from "./OtherToken";
import { Pages } from "./Pages";
import { Shell } from "./Shell";
import { SignedIn } from "./SignedIn";

/** The console: whoever is not signed in signs in first, at whatever address they came to. */
export function App({ first }: { first: Promise<Arrival> }) {
  useLanguage(); // whatever is below is drawn again in another one
  const [state, setState] = useState<SessionState>({ kind: "checking" });
  const [offer, setOffer] = useState<Offer | null>(null);
  const take = useCallback((arrival: Arrival) => {
    setState(arrival.state);
    setOffer(arrival.offer);
  }, []);
  useEffect(() => {
    void first.then(take);
  }, [first, take]);
  useEffect(() => {
    const onHash = () => {
      const token = takeToken(window.location, window.history);
      if (token) void arrive(token).then(take);
    };
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, [take]);

  if (state.kind === "checking") {
    return (
      <>
        <Opening />
        <Loading what={t("app.checking")} />
      </>
    );
  }
  if (state.kind === "signedOut") return <SignIn reason={state.reason} onState={setState} />;
  if (state.kind === "unreachable") {
    const again = () => void whoAmI().then(setState);
    return (
      <main>
        <Screen
          icon="server"
          tone="bad"
          title={t("app.unreachable")}
          action={
            <Button icon="retry" onClick={again}>
              {t("app.again")}
            </Button>
          }
        >
          {t("app.unreachable.detail", { reason: state.reason })}
        </Screen>
      </main>
    );
  }
  const { identity } = state;
  return (
    // Somebody else begins anew; who comes back finds the page as it was.
    <SignedIn key={`${identity.player} ${identity.role}`} identity={identity} onState={setState}>
      <Shell>
        <Pages />
      </Shell>
      {offer && (
        <OtherToken offer={offer} onState={(s) => take({ state: s, offer: null })} onClose={() => setOffer(null)} />
      )}
    </SignedIn>
  );
}

// What index.html shows before any script has run, so that nothing goes away again: the brand at its place in the shell.
function Opening() {
  return (
    <p className="opening">
      <img src="/favicon.svg" alt="" width={22} height={22} />
      <span>{t("app.name")}</span>
    </p>
  );
}
