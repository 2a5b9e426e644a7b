import { useCallback, useMemo } from "react";
import { useClient } from "urql";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { Take } from "../../ui/take/Take";
import { useSearchParams } from "../../ui/useSearchParams";
import { T, t } from "../../words";
import { Bar } from "./Bar";
import { Chips, chipsOf } from "./Chips";
import { threadColumns } from "./columns";
import { addressOf, allThreads, askedOf, readThreadFilter, type ThreadFilter, threadKey } from "./filter";
import { ThreadsQuery } from "./query";
import { Row } from "./Row";
import styles from "./ThreadsPage.module.css";

/** The latest threads, or those that hold a message as the address says. */
export default function ThreadsPage() {
  useTitle(t("threads.title"));
  const client = useClient();
  const [params, setParams] = useSearchParams();
  const key = threadKey(params);
  const filter = useMemo(() => readThreadFilter(new URLSearchParams(key)), [key]);
  // What is relative is of the moment that the list is opened at: its pages are of one list.
  const asked = useMemo(() => askedOf(filter, Date.now()), [filter]);
  const pages = usePages(
    useCallback(
      async (after: string | null) =>
        pageOf((await ask(client, ThreadsQuery, { ...asked, after, count: after === null })).threads),
      [client, asked],
    ),
  );
  const onFilter = (f: ThreadFilter) => setParams(addressOf(f), { replace: true });
  return (
    <>
      <PageHead title={t("threads.title")} note={<Note n={pages.totalCount} filtered={key !== ""} />}>
        <Take
          name={t("threads.title")}
          file="threads"
          columns={threadColumns()}
          rows={pages.fetchPage}
          request={{ query: ThreadsQuery, variables: { ...asked, after: null, count: true } }}
        />
      </PageHead>
      <Bar filter={filter} address={key} onFilter={onFilter} />
      <Chips filter={filter} onFilter={onFilter} />
      <List
        key={key}
        pages={pages}
        what="threads"
        keyOf={(thread) => thread.hash}
        estimate={76}
        row={(thread) => <Row thread={thread} />}
        empty={key === "" ? <Empty /> : <FilteredOut filter={filter} onAll={() => onFilter(allThreads())} />}
      />
    </>
  );
}

// How many there are; nothing until the server has said so.
function Note({ n, filtered }: { n: number | null; filtered: boolean }) {
  const { identity } = useSession();
  const all = isAdmin(identity) ? "threads.note" : "threads.note.own";
  return <span role="status">{n !== null && t(filtered ? "threads.note.filtered" : all, { n })}</span>;
}

function Empty() {
  const { identity } = useSession();
  return (
    <Screen icon="empty" title={t("threads.none")}>
      {isAdmin(identity) ? <T id="threads.none.all" /> : t("threads.none.own")}
    </Screen>
  );
}

function FilteredOut({ filter, onAll }: { filter: ThreadFilter; onAll: () => void }) {
  const chips = chipsOf(filter);
  return (
    <Screen icon="search" title={t("threads.filtered")} action={<Button onClick={onAll}>{t("filter.clear")}</Button>}>
      <p>{t("threads.filtered.detail", { n: chips.length })}</p>
      <ul className={styles.reasons} aria-label={t("threads.chips")}>
        {chips.map(({ id, label }) => (
          <li key={id}>{label}</li>
        ))}
      </ul>
    </Screen>
  );
}
