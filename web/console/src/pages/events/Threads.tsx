import { useQuery } from "urql";
import { Link } from "wouter";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import styles from "./Events.module.css";
import type { Pair } from "./EventsPage";
import { UserThreadsQuery } from "./query";

const most = 200; // threads that the server gives

/** Where a thread of an agent and a user is shown. */
export const addressOf = ({ agent, user }: Pair, thread?: string): string =>
  `/events?${new URLSearchParams({ agent, user, ...(thread !== undefined && { thread }) })}`;

/** The threads of an agent with a user, as events call them, or the one that is called so. */
export const useThreads = ({ agent, user }: Pair, threadId: string | null = null) =>
  useQuery({
    query: UserThreadsQuery,
    variables: { agent, userId: user, threadId },
  });

/** The threads of an agent with a user, the latest first. */
export function Threads({ who }: { who: Pair }) {
  const [{ data, error, fetching }, again] = useThreads(who);
  const threads = data?.userThreads ?? [];
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  if (threads.length === 0) {
    if (fetching) return <Loading what={t("ui.list.threads")} />;
    return (
      <Screen icon="empty" title={t("events.threads.none")}>
        {t("events.threads.none.detail")}
      </Screen>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className={styles.box} tabIndex={0} aria-label={t("ui.list.threads")}>
      <ul>
        {threads.map((thread) => (
          <li key={thread.thread.hash} className={styles.thread}>
            <Link href={addressOf(who, thread.threadId)} className={styles.name}>
              <bdi>{thread.threadId}</bdi>
            </Link>
            <span className={styles.facts}>
              <span>{t("events.count", { n: thread.numEvents })}</span>
              <span>
                <T
                  id="events.span"
                  values={{ from: <Time at={thread.startedAt} />, to: <Time at={thread.lastEventAt} /> }}
                />
              </span>
            </span>
          </li>
        ))}
      </ul>
      {threads.length === most && <p className={styles.end}>{t("events.threads.most", { n: most })}</p>}
    </section>
  );
}
