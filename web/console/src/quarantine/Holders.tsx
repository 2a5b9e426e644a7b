import { useCallback, useState } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../api/pages";
import { ask, pageOf } from "../api/query";
import { Button } from "../ui/Button";
import { PlayerName } from "../ui/Things";
import { Time } from "../ui/Time";
import { Why } from "../ui/Why";
import { T, t } from "../words";
import styles from "./Holders.module.css";
import { type Holder, HoldersQuery, type QuarantineOf } from "./query";

/** The selections that hold a message: the latest at once, all of them on demand. */
export function Holders({ of: { message, selections } }: { of: QuarantineOf }) {
  const [all, setAll] = useState(false);
  const first = selections.edges.map((e) => e.node);
  if (all) return <All message={message.hash} />;
  if (first.length === 0) return <p className={styles.none}>{t("quarantine.held.never")}</p>;
  const more = selections.pageInfo.hasNextPage;
  return (
    <div className={styles.holders}>
      <p>{more ? t("quarantine.held.latest") : t("quarantine.held", { n: first.length })}</p>
      <Lines holders={first} />
      {more && (
        <div>
          <Button onClick={() => setAll(true)}>{t("quarantine.held.all")}</Button>
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
      <p>{t(pages.hasMore ? "quarantine.held.more" : "quarantine.held", { n: pages.items.length })}</p>
      <Lines holders={pages.items} />
      {pages.error && (
        <p role="alert">
          <T id="quarantine.held.failed" values={{ why: <Why error={pages.error} /> }} />
        </p>
      )}
      {(pages.hasMore || pages.error) && (
        <div>
          <Button disabled={pages.loading} onClick={() => void pages.more()}>
            {pages.error ? t("quarantine.again") : t("quarantine.more")}
          </Button>
        </div>
      )}
    </div>
  );
}

function Lines({ holders }: { holders: readonly Holder[] }) {
  return (
    <ul className={styles.lines} aria-label={t("quarantine.held.list")}>
      {holders.map((h) => (
        <li key={h.id}>
          <T
            id={h.player ? "quarantine.holder" : "quarantine.holder.admin"}
            values={{
              when: <Time at={h.createdAt} />,
              position: h.position,
              ...(h.player && { player: <PlayerName player={h.player} /> }),
            }}
            components={{
              link: (inside) => <Link href={`/context?selection=${encodeURIComponent(h.id)}`}>{inside}</Link>,
            }}
          />
        </li>
      ))}
    </ul>
  );
}
