import { useCallback, useState } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../../api/pages";
import { ask } from "../../api/query";
import { nameOf } from "../../ui/format";
import { List } from "../../ui/List";
import { Screen } from "../../ui/Screen";
import { t } from "../../words";
import { EventRow } from "./EventRow";
import styles from "./Events.module.css";
import { ErrorsQuery, type Event } from "./query";
import { addressOf } from "./Threads";

const example = `curl -s "$URL/hooks/events" -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{
  "source": "webchat_backend", "agent": "jarvis_webchat", "user_id": "user_42",
  "thread_id": "thread_1", "event_type": "error", "role": "system",
  "content": "502 from the model", "payload": { "error_code": "MODEL_502" } }'`;

/** The newest errors of all that one may see, and what events are. */
export function Errors() {
  const client = useClient();
  const pages = usePages(
    useCallback(
      async (before: string | null) => {
        const { edges, pageInfo } = (await ask(client, ErrorsQuery, { before })).messages;
        const items = edges.map((e) => e.node).reverse();
        return { items, endCursor: pageInfo.startCursor, hasNextPage: pageInfo.hasPreviousPage };
      },
      [client],
    ),
  );
  const [unfolded] = useState(() => window.matchMedia("(min-width: 761px)").matches);
  return (
    <>
      <details className={styles.help} open={unfolded}>
        <summary>{t("events.help")}</summary>
        <p>{t("events.help.what")}</p>
        <p>{t("events.help.how")}</p>
        <pre>{example}</pre>
      </details>
      <h2 className={styles.title}>{t("events.newest")}</h2>
      <List
        pages={pages}
        what="events"
        keyOf={(e) => e.hash}
        estimate={130}
        row={(e) => <EventRow event={e} more={<ToThreads event={e} />} />}
        empty={
          <Screen icon="check" title={t("events.newest.none")}>
            {t("events.newest.none.detail")}
          </Screen>
        }
      />
    </>
  );
}

// The threads of the two, if they are an agent and a user as events have them.
function ToThreads({ event: { owner, players } }: { event: Event }) {
  const both = [owner, ...players];
  const agent = both.find((p) => p.namespace === "PLY" && p.key !== null);
  const user = both.find((p) => p.namespace === "PLU" && p.key !== null);
  if (!agent?.key || !user?.key) return null;
  return (
    <Link href={addressOf({ agent: agent.key, user: user.key })}>
      {t("events.threads.of", { agent: nameOf(agent), user: nameOf(user) })}
    </Link>
  );
}
