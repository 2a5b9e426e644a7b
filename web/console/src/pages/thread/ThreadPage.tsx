import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useClient, useQuery } from "urql";
import { Link, Redirect, useSearchParams } from "wouter";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { useSession } from "../../api/session";
import { auditSession } from "../../app/places";
import { useTitle } from "../../app/title";
import type { Subject } from "../../chain/verify";
import { List } from "../../ui/List";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Head } from "./Head";
import { linkState } from "./link";
import { Panel } from "./Panel";
import { MessagePlace, type MessageRow, SessionPageQuery, ThreadPageQuery } from "./query";
import { Row } from "./Row";
import styles from "./ThreadPage.module.css";
import { useVerification } from "./useVerification";
import { type Show, Verify } from "./Verify";

/** A thread, or a session by itself, or the place where a message stands. */
export default function ThreadPage({ kind, hash }: { kind: "thread" | "session" | "message"; hash: string }) {
  return kind === "message" ? <FindMessage hash={hash} /> : <Conversation kind={kind} hash={hash} />;
}

function FindMessage({ hash }: { hash: string }) {
  useTitle("Message");
  const [{ data, error, fetching }] = useQuery({ query: MessagePlace, variables: { hash } });
  if (error) return <ErrorScreen error={error} />;
  if (data?.message) {
    const { thread, session } = data.message;
    const place = thread ? `/threads/${thread.hash}` : `/sessions/${session.hash}`;
    return <Redirect to={`${place}?message=${hash}`} replace />;
  }
  if (fetching) return <Loading what="the message" />;
  return (
    <Screen icon="search" title="No message has this hash">
      The link may be older than the log it leads to, or it was cut short.
    </Screen>
  );
}

function useMessages({ kind, hash }: Subject) {
  const client = useClient();
  return usePages<MessageRow>(
    useCallback(
      async (after: string | null) => {
        const of =
          kind === "thread"
            ? (await ask(client, ThreadPageQuery, { hash, after })).thread
            : (await ask(client, SessionPageQuery, { hash, after })).session;
        return of ? pageOf(of.messages) : { items: [], endCursor: null, hasNextPage: false };
      },
      [client, kind, hash],
    ),
  );
}

function Conversation({ kind, hash }: Subject) {
  const subject = useMemo(() => ({ kind, hash }), [kind, hash]);
  useTitle(kind === "thread" ? "Thread" : "Session");
  const pages = useMessages(subject);
  const check = useVerification(subject);
  const [params, setParams] = useSearchParams();
  const opened = params.get("message");
  const [current, setCurrent] = useState(0);
  const scrollTo = useRef<((index: number) => void) | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const { items } = pages;

  const open = useCallback(
    (message: string | null) => {
      // Walking through messages is one step of the history, not one for each message.
      setParams((p) => replaced(p, message), { replace: opened !== null && message !== null });
    },
    [setParams, opened],
  );
  const focusRow = useCallback((index: number) => {
    scrollTo.current?.(index);
    setCurrent(index);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        frame.current?.querySelector<HTMLElement>(`[data-open-index="${index}"]`)?.focus();
      }),
    );
  }, []);
  const close = useCallback(() => {
    open(null);
    focusRow(
      Math.max(
        0,
        items.findIndex((m) => m.hash === opened),
      ),
    );
  }, [open, focusRow, items, opened]);

  const find = useFind(pages);
  const show: Show = useCallback(
    async (at) => {
      const index = await find(
        (m) => m.hash === at.hash || (m.session.hash === at.session && m.sequence >= (at.sequence ?? 0)),
      );
      if (index >= 0) focusRow(index);
    },
    [find, focusRow],
  );
  // A link to a message brings its row into view once, when the page opens.
  const linked = useRef(opened);
  useEffect(() => {
    if (!linked.current || items.length === 0) return;
    const wanted = linked.current;
    linked.current = null;
    void find((m) => m.hash === wanted).then((index) => {
      if (index < 0) return;
      setCurrent(index);
      requestAnimationFrame(() => scrollTo.current?.(index));
    });
  }, [items, find]);

  const step = (by: 1 | -1, event?: KeyboardEvent) => {
    const at = event?.target instanceof HTMLElement ? event.target : document.activeElement;
    const onRow = at instanceof HTMLElement && at.dataset.openIndex !== undefined;
    if (event?.key.startsWith("Arrow") && !onRow) return false; // it scrolls
    const next = Math.min(items.length - 1, Math.max(0, current + by));
    const message = items[next];
    if (!message) return false;
    if (opened) open(message.hash);
    if (opened && !onRow) {
      setCurrent(next);
      scrollTo.current?.(next);
    } else focusRow(next);
  };
  useAction("message.next", (event) => step(1, event));
  useAction("message.previous", (event) => step(-1, event));
  useAction("panel.close", close, { enabled: opened !== null });

  const onOpen = useCallback(
    (message: string) => {
      setCurrent(items.findIndex((m) => m.hash === message));
      open(message);
    },
    [items, open],
  );

  // What changes a message may append another: the list is read anew, and the message brought into view again.
  const { reload } = pages;
  const onChanged = useCallback(() => {
    linked.current = opened;
    reload();
  }, [reload, opened]);
  const openedRow = items.find((m) => m.hash === opened);

  return (
    <div className={styles.page} ref={frame}>
      <div className={styles.column}>
        <Head subject={subject} />
        <Verify state={check} what={kind === "thread" ? "this thread’s sessions" : "this session"} show={show} />
        <List
          pages={pages}
          what="messages"
          keyOf={(m) => m.hash}
          estimate={132}
          scrollTo={scrollTo}
          row={(m, index) => (
            <Row
              message={m}
              before={items[index - 1]}
              state={linkState(check.found, m)}
              open={m.hash === opened}
              current={index === current}
              index={index}
              onOpen={onOpen}
            />
          )}
          empty={<Nothing subject={subject} />}
        />
      </div>
      {opened && (
        <Panel
          hash={opened}
          state={openedRow ? linkState(check.found, openedRow) : null}
          onClose={close}
          onChanged={onChanged}
        />
      )}
    </div>
  );
}

// An administrator's own record begins with the first thing that they do.
function Nothing({ subject: { kind, hash } }: { subject: Subject }) {
  const { identity } = useSession();
  if (hash === auditSession(identity.player)) {
    return (
      <Screen icon="records" title="Nothing is on record yet">
        This session records what you do as administrator: sessions of others that you read, tokens, erasures.
      </Screen>
    );
  }
  return (
    <Screen icon="search" title={`No message belongs to this ${kind}`}>
      Nothing in the log that you may see names it. <Link href="/threads">All threads</Link>
    </Screen>
  );
}

function replaced(params: URLSearchParams, message: string | null): URLSearchParams {
  const next = new URLSearchParams(params);
  if (message) next.set("message", message);
  else next.delete("message");
  return next;
}

// Gives the index of the first message that matches, fetching further pages until one does; -1 if none does.
function useFind(pages: { items: MessageRow[]; more: () => Promise<MessageRow[]> }) {
  const { items, more } = pages;
  return useCallback(
    async (matches: (m: MessageRow) => boolean) => {
      let all = items;
      for (;;) {
        const index = all.findIndex(matches);
        if (index >= 0) return index;
        const next = await more();
        if (next.length <= all.length) return -1;
        all = next;
      }
    },
    [items, more],
  );
}
