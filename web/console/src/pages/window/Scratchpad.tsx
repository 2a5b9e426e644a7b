import { useCallback, useState } from "react";
import { type CombinedError, useClient, useMutation } from "urql";
import { describe } from "../../api/errors";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Wrong } from "../../ui/Field";
import { short } from "../../ui/format";
import { List } from "../../ui/List";
import { Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import type { PartProps } from "./Body";
import { asideColumns } from "./columns";
import { type Aside, EntryQuery, InjectFromScratchpad, ScratchpadQuery } from "./query";
import styles from "./Scratchpad.module.css";
import { Text } from "./Text";

// What was read of the scratchpad: by the entries' ids, so that it outlives the rows that scroll away.
type Read = { text: string } | { wrong: string };

/** What was put aside, the latest first. What it says is read one by one, on record; each can be put into the window. */
export function Scratchpad({ window: { id }, turn, onChanged }: PartProps) {
  const client = useClient();
  const { identity } = useSession();
  const [read, setRead] = useState<Readonly<Record<string, Read>>>({});
  const [, inject] = useMutation(InjectFromScratchpad);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once something was done, it is another list
  const fetchPage = useCallback(
    async (after: string | null) => {
      const { window: of } = await ask(client, ScratchpadQuery, { id, after, count: after === null });
      return of ? pageOf(of.scratchpad) : { items: [], endCursor: null, hasNextPage: false };
    },
    [client, id, turn],
  );
  const pages = usePages(fetchPage);
  const say = (entry: string, what: Read) => setRead((before) => ({ ...before, [entry]: what }));
  const failed = (entry: string, error: CombinedError) =>
    say(entry, { wrong: t("windows.scratchpad.failed", describe(error)) });
  const onRead = async (entry: string) => {
    const { data, error } = await client.query(EntryQuery, { id: entry }).toPromise();
    if (error) return failed(entry, error);
    const found = data?.scratchpadEntry;
    say(entry, found ? { text: found.content } : { wrong: t("windows.entries.gone", { n: 1 }) });
  };
  const onInject = async (entry: string) => {
    const { error } = await inject({ window: id, entry });
    if (error) failed(entry, error);
    else onChanged();
  };
  return (
    <>
      <div className={styles.bar}>
        <p>{t("windows.scratchpad.note")}</p>
        <Take
          name={t("windows.which.scratchpad")}
          file={`scratchpad-${short(id)}`}
          columns={asideColumns()}
          rows={pages.fetchPage}
          request={{ query: ScratchpadQuery, variables: { id, after: null, count: true } }}
        />
      </div>
      <List
        key={turn}
        pages={pages}
        what="entries"
        keyOf={(e) => e.id}
        estimate={56}
        row={(e) => (
          <Row
            of={e}
            read={read[e.id]}
            onRead={() => void onRead(e.id)}
            onInject={has(identity, "memory:write") ? () => void onInject(e.id) : null}
          />
        )}
        empty={
          <Screen icon="empty" title={t("windows.scratchpad.none")}>
            {t("windows.scratchpad.none.detail")}
          </Screen>
        }
      />
    </>
  );
}

type RowProps = { of: Aside; read: Read | undefined; onRead: () => void; onInject: (() => void) | null };

function Row({ of: e, read, onRead, onInject }: RowProps) {
  return (
    <article className={styles.row} data-entry={e.id}>
      <p className={styles.what}>
        <b>{t(`windows.type.${e.type}`)}</b>
        <span>{t("windows.tokens.n", { n: e.tokens })}</span>
        <Time at={e.createdAt} />
      </p>
      <div className={styles.ways}>
        {!(read && "text" in read) && (
          <Button icon="witnessed" onClick={onRead}>
            {t("windows.scratchpad.read")}
          </Button>
        )}
        {onInject && (
          <Button icon="ref" onClick={onInject}>
            {t("windows.scratchpad.inject")}
          </Button>
        )}
      </div>
      {read && (
        <div className={styles.said} role="status">
          {"text" in read ? <Text of={read.text} /> : <Wrong>{read.wrong}</Wrong>}
        </div>
      )}
    </article>
  );
}
