import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useQuery } from "urql";
import { Link, Redirect, useLocation } from "wouter";
import { useAction } from "../../actions/useAction";
import { useSession } from "../../api/session";
import { auditSession } from "../../app/places";
import { useTitle } from "../../app/title";
import type { Subject } from "../../chain/verify";
import { everything, type Filter, withFilter } from "../../filter/match";
import { fromFinding, fromServer } from "../../ui/Breaks";
import { Button } from "../../ui/Button";
import { type RangeHandle, RangeList, type Seen } from "../../ui/ranges/RangeList";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { useSearchParams } from "../../ui/useSearchParams";
import { Why } from "../../ui/Why";
import { T, t } from "../../words";
import { nameFor, readWanted } from "./address";
import { FilterBar } from "./FilterBar";
import { Full } from "./Full";
import { Head } from "./Head";
import { Jump } from "./Jump";
import { type Judge, linkState } from "./link";
import { Moved } from "./Moved";
import { Panel } from "./Panel";
import { MessagePlace, type MessageRow } from "./query";
import { Row } from "./Row";
import { Scrubber } from "./Scrubber";
import { TailBar } from "./TailBar";
import styles from "./ThreadPage.module.css";
import { type Conversation as Shown, useConversation } from "./useConversation";
import { useMarks } from "./useMarks";
import { useOpened } from "./useOpened";
import { set, usePlace } from "./usePlace";
import { useShowBreak } from "./useShowBreak";
import { inViewOf, useShown } from "./useShown";
import { useTail } from "./useTail";
import { useVerification } from "./useVerification";
import { Verify } from "./Verify";

type Props = { kind: "thread" | "session" | "message"; hash: string; message?: string | undefined };

/** A thread, or a session by itself; one message of it; or the place where a message stands. */
export default function ThreadPage({ kind, hash, message }: Props) {
  const subject = useMemo(() => (kind === "message" ? null : { kind, hash }), [kind, hash]);
  if (!subject) return <FindMessage hash={hash} />;
  return message === undefined ? <Conversation subject={subject} /> : <Full subject={subject} name={message} />;
}

function FindMessage({ hash }: { hash: string }) {
  useTitle(t("thread.message"));
  const [{ data, error, fetching }] = useQuery({ query: MessagePlace, variables: { hash } });
  if (error) return <ErrorScreen error={error} />;
  if (data?.message) {
    const { thread, session } = data.message;
    const place = (thread ?? session).place;
    const at = thread ? `/threads/${thread.hash}` : `/sessions/${session.hash}`;
    return <Redirect to={`${at}?message=${place === null ? hash : nameFor(place, hash)}`} replace />;
  }
  if (fetching) return <Loading what={t("thread.theMessage")} />;
  return (
    <Screen icon="search" title={t("thread.noMessage")}>
      {t("thread.noMessage.detail")}
    </Screen>
  );
}

function Conversation({ subject }: { subject: Subject }) {
  useTitle(t(subject.kind === "thread" ? "thread.thread" : "thread.session"));
  const [params, setParams] = useSearchParams();
  const [, navigate] = useLocation();
  const conversation = useConversation(subject);
  const { filter, filtered, source, ranges, total } = conversation;
  const check = useVerification(subject);
  const tail = useTail(subject, ranges);
  const { marks, count } = useMarks(source, total);
  const [jumping, setJumping] = useState(false);
  const list = useRef<RangeHandle>(null);
  const frame = useRef<HTMLDivElement>(null);

  const setName = useCallback(
    (name: string | null, replace: boolean) => {
      // Walking through messages is one step of the history, not one for each message.
      setParams((p) => set(p, "message", name), { replace });
    },
    [setParams],
  );
  const name = params.get("message");
  const { opened, open, close, erased } = useOpened({ conversation, name, setName });
  const openedAt = opened.kind === "open" ? opened.position : null;
  const { at, begin, current, setCurrent, onRest } = usePlace(conversation, opened);

  const goTo = useCallback(
    (position: number, align: "start" | "middle" | "end" = "middle") => {
      list.current?.goTo(position, align);
      setCurrent(position);
    },
    [setCurrent],
  );
  const focusRow = useCallback(
    (position: number, align: "start" | "middle" | "end" = "middle") => {
      goTo(position, align);
      focusSoon(frame.current, position);
    },
    [goTo],
  );
  useEffect(() => {
    if (at !== null) list.current?.goTo(at.position, "start", at.into);
  }, [at]);

  const leave = useCallback(() => {
    close();
    focusRow(current);
  }, [close, focusRow, current]);
  const walk = async (by: number, from: "list" | "panel") => {
    const next = Math.min((total ?? 1) - 1, Math.max(0, current + by));
    if (from === "list") focusRow(next);
    else goTo(next);
    if (opened.kind === "none") return;
    const row = await conversation.rowAt(next);
    if (row) open(row, next);
  };
  const full = () => navigate(`/${subject.kind}s/${subject.hash}/${name}?${set(params, "message", null)}`);
  const step = (by: 1 | -1, event?: KeyboardEvent) => {
    const at = event?.target instanceof HTMLElement ? event.target : document.activeElement;
    const onRow = isRow(at);
    if (event?.key.startsWith("Arrow") && !onRow) return false; // it scrolls
    void walk(by, name !== null && !onRow ? "panel" : "list");
  };
  const mark = (by: 1 | -1) => {
    const to = by > 0 ? marks.find((m) => m.position > current) : marks.findLast((m) => m.position < current);
    if (to) focusRow(to.position);
  };
  const { show, unshown } = useShowBreak(source, focusRow);
  const [[ours], [theirs]] = [check.found.browser.breaks, check.found.server.breaks];
  const bad = ours ? fromFinding(ours) : theirs && fromServer(theirs);
  useAction("message.next", (event) => step(1, event));
  useAction("message.previous", (event) => step(-1, event));
  useAction("message.full", (event) => (event && !isOpened(event.target, openedAt) ? false : full()), {
    enabled: name !== null,
  });
  useAction("panel.close", leave, { enabled: name !== null });
  useAction("list.jump", () => setJumping(true));
  useAction("list.end", () => focusRow((total ?? 1) - 1, "end"), { enabled: total !== null && total > 0 });
  useAction("mark.next", () => mark(1), { enabled: marks.length > 0 });
  useAction("mark.previous", () => mark(-1), { enabled: marks.length > 0 });
  useAction("chain.bad", () => bad && show(bad), { enabled: bad !== undefined });
  const onOpen = useCallback(
    (message: MessageRow, position: number) => {
      setCurrent(position);
      open(message, position);
    },
    [open, setCurrent],
  );

  const onJump = (text: string) => jump(conversation, text, focusRow);
  const onFilter = (f: Filter) => setParams((p) => withFilter(p, f), { replace: true });
  const onChanged = useCallback(() => ranges.reload(), [ranges]);

  const onKeyMove = useCallback(
    (position: number) => {
      setCurrent(position);
      if (inList(document.activeElement)) focusSoon(frame.current, position);
    },
    [setCurrent],
  );

  const [seen, setSeen] = useState<Seen>({ first: 0, last: 0, atEnd: false, into: 0 });
  const onSeen = (now: Seen, atRest: boolean) => {
    if (now.first !== seen.first || now.last !== seen.last || now.atEnd !== seen.atEnd) setSeen(now);
    if (!atRest) return;
    if (now.first !== rest?.first || now.last !== rest.last) setRest(now);
    onRest(now);
  };
  const [rest, setRest] = useState<Seen | null>(null);
  const shownOf = useShown(conversation, check, rest);
  const verify = () => check.start(inViewOf(conversation, seen));
  const openedHash = opened.kind === "open" ? opened.hash : null;
  const openedRow = openedAt === null ? undefined : (ranges.row(openedAt) ?? undefined);

  const judge: Judge = (m, findings) => {
    const row = openedRow?.hash === m.hash ? shownOf(openedRow) : undefined;
    return linkState(check.found, m, { linked: row?.linked ?? false, proved: row?.proved ?? false, findings });
  };

  return (
    <div className={styles.page} ref={frame}>
      <div className={styles.column}>
        <Head subject={subject} shown={filtered ? total : null} />
        <Verify state={check} subject={subject} start={verify} show={show} />
        {unshown && (
          <p className={styles.unshown} role="alert">
            <T id="thread.verify.unshown" values={{ why: <Why error={unshown} /> }} />
          </p>
        )}
        <FilterBar filter={filter} filtered={filtered} onFilter={onFilter} />
        <div className={styles.lists}>
          {begin !== undefined && (
            <RangeList
              key={`list ${ranges.id}`}
              ranges={ranges}
              what={t("thread.messages")}
              keyOf={(m) => m.hash}
              estimate={132}
              {...(begin !== null && { begin })}
              handle={list}
              onSeen={onSeen}
              onKeyMove={onKeyMove}
              row={(m, position) => (
                <Row
                  message={m}
                  before={position === 0 ? null : ranges.row(position - 1)}
                  gaps={!filtered}
                  state={linkState(check.found, m, shownOf(m))}
                  open={m.hash === openedHash}
                  current={position === current}
                  index={position}
                  onOpen={onOpen}
                />
              )}
              empty={<Nothing subject={subject} filtered={filtered} onAll={() => onFilter(everything)} />}
            />
          )}
          {total !== null && total > 0 && (
            <Scrubber
              marks={marks}
              count={count}
              total={total}
              first={seen.first}
              last={seen.last}
              onGo={(p) => goTo(p, "start")}
            />
          )}
          <TailBar
            key={`tail ${ranges.id}`}
            tail={tail}
            total={total}
            atEnd={seen.atEnd}
            onEnd={() => goTo((total ?? 1) - 1, "end")}
          />
        </div>
      </div>
      {opened.kind !== "none" && (
        <Moved opened={opened} onClose={leave} onOpen={onOpen}>
          {opened.kind === "open" && (
            <Panel
              hash={opened.hash}
              row={openedRow?.hash === opened.hash ? openedRow : opened.row}
              name={name ?? opened.hash}
              judge={judge}
              onClose={leave}
              onChanged={onChanged}
              onErased={erased}
            />
          )}
        </Moved>
      )}
      {jumping && <Jump onJump={onJump} onClose={() => setJumping(false)} />}
    </div>
  );
}

// The row may have to be drawn first, and fetched before that.
function focusSoon(frame: HTMLElement | null, position: number, tries = 600): void {
  const row = frame?.querySelector<HTMLElement>(`[data-open-index="${position}"]`);
  if (row) row.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusSoon(frame, position, tries - 1));
}

const isRow = (at: Element | null): boolean => at instanceof HTMLElement && at.dataset.openIndex !== undefined;

// The list itself has the focus while the row that had it is out of sight.
const inList = (at: Element | null): boolean =>
  isRow(at) || (at instanceof HTMLElement && at.dataset.list !== undefined);

// Whether what has the focus is the open message: its panel, or its row.
const isOpened = (at: EventTarget | null, position: number | null): boolean =>
  at instanceof HTMLElement && (at.dataset.panel !== undefined || at.dataset.openIndex === String(position));

// Goes to what somebody typed, and gives in words why it cannot.
async function jump(
  { source, total, filtered }: Shown,
  text: string,
  go: (position: number) => void,
): Promise<string | null> {
  const wanted = readWanted(text);
  if (!wanted) return t("thread.jump.unread");
  if (wanted.kind === "time") {
    const position = await source.placeAt(wanted.at);
    if (total === null || total === 0) return t("thread.jump.empty");
    if (position >= total) {
      go(total - 1);
      return t("thread.jump.late");
    }
    go(position);
    return null;
  }
  let hash = wanted.kind === "hash" ? wanted.hash : null;
  if (wanted.kind !== "hash") {
    if (!filtered && wanted.kind === "at" && total !== null && wanted.place < total) {
      go(wanted.place);
      return null;
    }
    const row = await source.at(wanted.place);
    if (!row) return t("thread.jump.beyond", { n: wanted.place + 1 });
    if (wanted.kind === "place" && !row.hash.startsWith(wanted.prefix))
      return t("thread.jump.other", { n: wanted.place + 1, prefix: wanted.prefix });
    hash = row.hash;
  }
  const { place, matched } = await source.place(hash ?? "");
  if (matched === null) return t(place === null ? "thread.jump.absent" : "thread.jump.hidden");
  go(matched);
  return null;
}

type NothingProps = { subject: Subject; filtered: boolean; onAll: () => void };

// An administrator's own record begins with the first thing that they do.
function Nothing({ subject: { kind, hash }, filtered, onAll }: NothingProps) {
  const { identity } = useSession();
  if (filtered) {
    return (
      <Screen icon="search" title={t("thread.filtered")} action={<Button onClick={onAll}>{t("filter.clear")}</Button>}>
        {t("thread.filtered.detail")}
      </Screen>
    );
  }
  if (hash === auditSession(identity.player)) {
    return (
      <Screen icon="records" title={t("thread.audit.none")}>
        {t("thread.audit.detail")}
      </Screen>
    );
  }
  return (
    <Screen icon="search" title={t(kind === "thread" ? "thread.none.thread" : "thread.none.session")}>
      <T id="thread.none.detail" components={{ link: (inside) => <Link href="/threads">{inside}</Link> }} />
    </Screen>
  );
}
