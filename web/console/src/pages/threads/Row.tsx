import { Link } from "wouter";
import { join, nameOf } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { Avatar } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import type { ThreadRow } from "./query";
import styles from "./ThreadsPage.module.css";

/** A thread: who takes part, how much was said, and when and what last. */
export function Row({ thread }: { thread: ThreadRow }) {
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
