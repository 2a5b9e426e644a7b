import { useCallback, useState } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../api/pages";
import { ask, pageOf } from "../api/query";
import { Button } from "../ui/Button";
import { plural } from "../ui/format";
import { PlayerName } from "../ui/Things";
import { Time } from "../ui/Time";
import styles from "./Holders.module.css";
import { type Holder, HoldersQuery, type QuarantineOf } from "./query";

/** The selections that hold a message: the latest at once, all of them on demand. */
export function Holders({ of: { message, selections } }: { of: QuarantineOf }) {
  const [all, setAll] = useState(false);
  const first = selections.edges.map((e) => e.node);
  if (all) return <All message={message.hash} />;
  if (first.length === 0) return <p className={styles.none}>No selection ever held it.</p>;
  const more = selections.pageInfo.hasNextPage;
  return (
    <div className={styles.holders}>
      <p>{more ? "Held by, the latest first:" : `Held by ${plural(first.length, "selection")}:`}</p>
      <Lines holders={first} />
      {more && (
        <div>
          <Button onClick={() => setAll(true)}>Show all selections</Button>
        </div>
      )}
    </div>
  );
}

function All({ message }: { message: string }) {
  const client = useClient();
  const pages = usePages<Holder>(
    useCallback(
      async (after: string | null) => {
        const { quarantine } = await ask(client, HoldersQuery, { message, after });
        return quarantine ? pageOf(quarantine.selections) : { items: [], endCursor: null, hasNextPage: false };
      },
      [client, message],
    ),
  );
  return (
    <div className={styles.holders} aria-busy={pages.loading}>
      <p>
        Held by {pages.hasMore && "more than "}
        {plural(pages.items.length, "selection")}:
      </p>
      <Lines holders={pages.items} />
      {pages.error && <p role="alert">Could not load them: {pages.error.message}</p>}
      {(pages.hasMore || pages.error) && (
        <div>
          <Button disabled={pages.loading} onClick={() => void pages.more()}>
            {pages.error ? "Try again" : "Show more"}
          </Button>
        </div>
      )}
    </div>
  );
}

function Lines({ holders }: { holders: readonly Holder[] }) {
  return (
    <ul className={styles.lines} aria-label="Selections that hold it">
      {holders.map((h) => (
        <li key={h.id}>
          <Link href={`/context?selection=${encodeURIComponent(h.id)}`}>
            Selection of <Time at={h.createdAt} />
          </Link>{" "}
          as item {h.position}, for {h.player ? <PlayerName player={h.player} /> : "an administrator"}
        </li>
      ))}
    </ul>
  );
}
