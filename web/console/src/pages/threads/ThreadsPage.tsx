import { useCallback } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { join, nameOf } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { Avatar } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import { type ThreadRow, ThreadsQuery } from "./query";
import styles from "./ThreadsPage.module.css";

/** The latest threads: who takes part, how much was said, and when last. */
export function ThreadsPage() {
  useTitle(t("threads.title"));
  const client = useClient();
  const { identity } = useSession();
  const pages = usePages(
    useCallback(
      async (after: string | null) => {
        return pageOf((await ask(client, ThreadsQuery, { after, count: after === null })).threads);
      },
      [client],
    ),
  );
  return (
    <>
      <PageHead
        title={t("threads.title")}
        note={
          pages.totalCount === null
            ? ""
            : t(isAdmin(identity) ? "threads.note" : "threads.note.own", { n: pages.totalCount })
        }
      />
      <List
        pages={pages}
        what="threads"
        keyOf={(thread) => thread.hash}
        estimate={76}
        row={(thread) => <Row thread={thread} />}
        empty={
          <Screen icon="empty" title={t("threads.none")}>
            {isAdmin(identity) ? <T id="threads.none.all" /> : t("threads.none.own")}
          </Screen>
        }
      />
    </>
  );
}

function Row({ thread }: { thread: ThreadRow }) {
  const { hash, players, messageCount, lastMessageAt, lastMessage: last } = thread;
  return (
    <Link href={`/threads/${hash}`} className={styles.row}>
      <span className={styles.faces}>
        {players.slice(0, 3).map((p) => (
          <Avatar key={p.hash} of={p} />
        ))}
      </span>
      <span className={styles.names}>
        <bdi>{join(players.map(nameOf))}</bdi> <ShortHash hash={hash} />
      </span>
      <span className={styles.last} dir="auto">
        <T id="threads.said" values={{ name: nameOf(last.owner), text: last.content ?? t("threads.erased") }} />
      </span>
      <span className={styles.when}>
        <Time at={lastMessageAt} as="ago" />
      </span>
      <span className={styles.count}>{t("threads.count", { n: messageCount })}</span>
    </Link>
  );
}
