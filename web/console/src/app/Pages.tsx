import { type ReactNode, Suspense } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { roleWord } from "../api/rights";
import { useSession } from "../api/session";
import { Loading, Screen } from "../ui/Screen";
import { lazily, t } from "../words";
import { Guard } from "./Guard";
import { Needs } from "./Needs";
import { isAt, openTo, places } from "./places";

const Overview = lazily(() => import("../pages/overview/OverviewPage"));
const Threads = lazily(() => import("../pages/threads/ThreadsPage"));
const Thread = lazily(() => import("../pages/thread/ThreadPage"));
const References = lazily(() => import("../pages/references/ReferencesPage"));
const Conversations = lazily(() => import("../pages/conversations/ConversationsPage"));
const Events = lazily(() => import("../pages/events/EventsPage"));
const Windows = lazily(() => import("../pages/windows/WindowsPage"));
const OneWindow = lazily(() => import("../pages/window/WindowPage"));
const Context = lazily(() => import("../pages/context/ContextPage"));
const Selections = lazily(() => import("../pages/selections/SelectionsPage"));
const Selection = lazily(() => import("../pages/selection/SelectionPage"));
const Components = lazily(() => import("../pages/components/ComponentsPage"));
const OneComponent = lazily(() => import("../pages/components/ComponentPage"));
const Records = lazily(() => import("../pages/records/RecordsPage"));
const OneRecord = lazily(() => import("../pages/records/RecordPage"));
const Seal = lazily(() => import("../pages/seal/SealPage"));
const Tokens = lazily(() => import("../pages/tokens/TokensPage"));
const Quarantine = lazily(() => import("../pages/quarantine/QuarantinePage"));
const Settings = lazily(() => import("../pages/settings/SettingsPage"));

/** Which address shows which page. web/web.go answers the same addresses. */
export function Pages() {
  const [path] = useLocation();
  return (
    <Guard key={path.split("/", 3).join("/")}>
      <Suspense fallback={<Loading what={t("app.page")} />}>
        <Permitted path={path}>
          <Switch>
            <Route path="/">
              <First />
            </Route>
            <Route path="/overview">
              <Overview />
            </Route>
            <Route path="/threads">
              <Threads />
            </Route>
            <Route path="/threads/:hash">{({ hash }) => <Thread key={hash} kind="thread" hash={hash} />}</Route>
            <Route path="/sessions/:hash">{({ hash }) => <Thread key={hash} kind="session" hash={hash} />}</Route>
            <Route path="/threads/:hash/:message">
              {({ hash, message }) => <Thread key={hash} kind="thread" hash={hash} message={message} />}
            </Route>
            <Route path="/sessions/:hash/:message">
              {({ hash, message }) => <Thread key={hash} kind="session" hash={hash} message={message} />}
            </Route>
            <Route path="/messages/:hash">{({ hash }) => <Thread key={hash} kind="message" hash={hash} />}</Route>
            <Route path="/messages/:hash/references">{({ hash }) => <References key={hash} hash={hash} />}</Route>
            <Route path="/conversations">
              <Conversations />
            </Route>
            <Route path="/events">
              <Events />
            </Route>
            <Route path="/windows">
              <Windows />
            </Route>
            <Route path="/windows/:id">{({ id }) => <OneWindow key={id} id={decodeURIComponent(id)} />}</Route>
            <Route path="/context">
              <Context />
            </Route>
            <Route path="/selections">
              <Selections />
            </Route>
            <Route path="/selections/:id">{({ id }) => <Selection key={id} id={decodeURIComponent(id)} />}</Route>
            <Route path="/components">
              <Components />
            </Route>
            <Route path="/components/:namespace/:name">
              {({ namespace, name }) => <OneComponent key={`${namespace} ${name}`} namespace={namespace} name={name} />}
            </Route>
            <Route path="/records">
              <Records />
            </Route>
            <Route path="/records/:hash">{({ hash }) => <OneRecord key={hash} hash={hash} />}</Route>
            <Route path="/seal">
              <Seal />
            </Route>
            <Route path="/tokens">
              <Tokens />
            </Route>
            <Route path="/quarantine">
              <Quarantine />
            </Route>
            <Route path="/settings">
              <Settings />
            </Route>
            <Route>
              <Screen icon="search" title={t("app.nowhere")}>
                {t("app.nowhere.detail")}
              </Screen>
            </Route>
          </Switch>
        </Permitted>
      </Suspense>
    </Guard>
  );
}

// The page that an address leads to, if whoever is signed in may use it, else what they lack.
function Permitted({ path, children }: { path: string; children: ReactNode }) {
  const place = places.find((p) => isAt(p, path));
  if (!place) return children;
  return (
    <Needs title={t("app.closed", { page: t(place.word) })} scope={place.scope} admin={place.admin}>
      {children}
    </Needs>
  );
}

function First() {
  const { identity } = useSession();
  const place = openTo(identity).find((p) => !p.whole);
  if (place) return <Redirect to={place.to} replace />;
  return (
    <Screen icon="key" title={t("app.none")}>
      {t("app.none.detail", { role: roleWord(identity.role), scopes: identity.scopes.join(", ") })}
    </Screen>
  );
}
