import { useCallback } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { Choice } from "../../ui/Choice";
import { Icon } from "../../ui/icons";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import { eventColumns } from "./columns";
import { EventRow } from "./EventRow";
import styles from "./Events.module.css";
import type { Pair } from "./EventsPage";
import { Memory } from "./Memory";
import { EventsQuery } from "./query";
import { addressOf, useThreads } from "./Threads";

const shows = ["all", "errors", "memory"] as const;
type Show = (typeof shows)[number];

type Props = {
  who: Pair;
  thread: string;
  params: URLSearchParams;
  set: (change: Record<string, string | null>, how?: { replace?: boolean }) => void;
};

/** A thread's events, only its errors, or what a prompt would be given of it. */
export function OneThread({ who, thread, params, set }: Props) {
  const [{ data, error, fetching }, again] = useThreads(who, thread);
  const found = data?.userThreads[0];
  const show: Show = shows.find((s) => s === params.get("show")) ?? "all";
  return (
    <>
      <PageHead title={<bdi>{thread}</bdi>} note={t("events.between", who)}>
        <Link href={addressOf(who)} className={styles.back}>
          <Icon name="back" />
          {t("events.back")}
        </Link>
        {found && <Link href={`/threads/${found.thread.hash}`}>{t("events.thread")}</Link>}
      </PageHead>
      <div className={styles.who}>
        <Choice
          label={t("events.which")}
          value={show}
          options={shows.map((value) => ({ value, word: t(`events.which.${value}`) }))}
          onChoose={(value) => set({ show: value === "all" ? null : value }, { replace: true })}
        />
      </div>
      {show === "memory" ? ( // which takes its names alone
        <Memory who={who} thread={thread} params={params} set={set} />
      ) : !found && error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : !found && fetching ? (
        <Loading what={t("events.thread.loading")} />
      ) : !found ? (
        <Screen icon="search" title={t("events.thread.none")}>
          {t("events.thread.none.detail")}
        </Screen>
      ) : (
        <Events key={show} thread={found.thread.hash} errors={show === "errors"} />
      )}
    </>
  );
}

function Events({ thread, errors }: { thread: string; errors: boolean }) {
  const client = useClient();
  const pages = usePages(
    useCallback(
      async (after: string | null) => {
        const types = errors ? (["ERROR"] as const) : null;
        const variables = { thread, types: types && [...types], after, count: after === null };
        return pageOf((await ask(client, EventsQuery, variables)).messages);
      },
      [client, thread, errors],
    ),
  );
  return (
    <>
      <div className={styles.take}>
        <Take
          name={t("ui.list.events")}
          file="events"
          columns={eventColumns()}
          rows={pages.fetchPage}
          request={{
            query: EventsQuery,
            variables: { thread, types: errors ? ["ERROR"] : null, after: null, count: true },
          }}
        />
      </div>
      <List
        pages={pages}
        what="events"
        keyOf={(e) => e.hash}
        estimate={110}
        row={(e) => <EventRow event={e} />}
        empty={
          <Screen icon={errors ? "check" : "empty"} title={t(errors ? "events.none.errors" : "events.none")}>
            {t("events.none.detail")}
          </Screen>
        }
      />
    </>
  );
}
