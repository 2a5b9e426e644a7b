import { useCallback } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { count, join, nameOf, plural } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { Avatar } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { type ThreadRow, ThreadsQuery } from "./query";
import styles from "./ThreadsPage.module.css";

/** The latest threads: who takes part, how much was said, and when last. */
export function ThreadsPage() {
  useTitle("Threads");
  const client = useClient();
  const { identity } = useSession();
  const order = isAdmin(identity) ? ", latest first" : " that you take part in, latest first";
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
      <PageHead title="Threads" note={pages.totalCount === null ? "" : `${count(pages.totalCount)}${order}`} />
      <List
        pages={pages}
        what="threads"
        keyOf={(t) => t.hash}
        estimate={76}
        row={(t) => <Row thread={t} />}
        empty={
          <Screen icon="empty" title="No threads yet">
            {isAdmin(identity) ? (
              <>
                The log holds no message that belongs to a thread. Append one with <code>appendMessages</code>, or
                import a file with <code>go run . import FILE</code>.
              </>
            ) : (
              "You take part in none. You see the sessions that you begin and those that a message names you in."
            )}
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
        <b>{nameOf(last.owner)}: </b>
        {last.content ?? "(content erased)"}
      </span>
      <span className={styles.when}>
        <Time at={lastMessageAt} as="ago" />
      </span>
      <span className={styles.count}>{plural(messageCount, "message")}</span>
    </Link>
  );
}
