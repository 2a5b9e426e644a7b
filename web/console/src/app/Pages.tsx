import { lazy, Suspense } from "react";
import { Redirect, Route, Switch } from "wouter";
import { ThreadsPage } from "../pages/threads/ThreadsPage";
import { Loading, Screen } from "../ui/Screen";

const Thread = lazy(() => import("../pages/thread/ThreadPage"));
const Context = lazy(() => import("../pages/context/ContextPage"));
const Components = lazy(() => import("../pages/components/ComponentsPage"));
const Records = lazy(() => import("../pages/records/RecordsPage"));
const Seal = lazy(() => import("../pages/seal/SealPage"));

/** Which address shows which page. web/web.go answers the same addresses. */
export function Pages() {
  return (
    <Suspense fallback={<Loading what="the page" />}>
      <Switch>
        <Route path="/">
          <Redirect to="/threads" replace />
        </Route>
        <Route path="/threads">
          <ThreadsPage />
        </Route>
        <Route path="/threads/:hash">{({ hash }) => <Thread key={hash} kind="thread" hash={hash} />}</Route>
        <Route path="/sessions/:hash">{({ hash }) => <Thread key={hash} kind="session" hash={hash} />}</Route>
        <Route path="/messages/:hash">{({ hash }) => <Thread key={hash} kind="message" hash={hash} />}</Route>
        <Route path="/context">
          <Context />
        </Route>
        <Route path="/components">
          <Components />
        </Route>
        <Route path="/records">
          <Records />
        </Route>
        <Route path="/seal">
          <Seal />
        </Route>
        <Route>
          <Screen icon="search" title="There is no such page">
            The address leads nowhere in this console.
          </Screen>
        </Route>
      </Switch>
    </Suspense>
  );
}
