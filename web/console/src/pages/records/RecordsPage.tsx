import { useCallback } from "react";
import { useClient } from "urql";
import { useSearchParams } from "wouter";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { useTitle } from "../../app/title";
import { Choice } from "../../ui/Choice";
import { count } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { SearchBox } from "../../ui/SearchBox";
import { Time } from "../../ui/Time";
import { type RecordRow, RecordsQuery } from "./query";
import { RecordPanel } from "./RecordPanel";
import styles from "./RecordsPage.module.css";

const options = [
  { value: "all", word: "All" },
  { value: "ACCOUNTANT", word: "Ledgers" },
  { value: "SECRETARY", word: "Secretary" },
] as const;

/** What the ledgers and the secretary hold. A record opens beside the list. */
export default function RecordsPage() {
  useTitle("Records");
  const client = useClient();
  const [params, setParams] = useSearchParams();
  const kind = options.find((o) => o.value === params.get("kind"))?.value ?? "all";
  const search = params.get("q") ?? "";
  const opened = params.get("record");
  const pages = usePages(
    useCallback(
      async (after: string | null) => {
        const only = kind === "all" ? null : kind;
        const variables = { kind: only, search: search || null, after, count: after === null };
        return pageOf((await ask(client, RecordsQuery, variables)).records);
      },
      [client, kind, search],
    ),
  );
  const set = (name: string, value: string) =>
    setParams((p) => {
      const next = new URLSearchParams(p);
      if (value) next.set(name, value);
      else next.delete(name);
      return next;
    });
  const close = () => {
    set("record", "");
    document.querySelector<HTMLElement>(`[data-record="${opened}"]`)?.focus();
  };
  useAction("panel.close", close, { enabled: opened !== null });
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead title="Records" note={pages.totalCount === null ? "" : `${count(pages.totalCount)}, latest first`}>
          <Choice label="Kind" value={kind} options={options} onChoose={(k) => set("kind", k === "all" ? "" : k)} />
          <SearchBox label="Find by title, book or words" value={search} onSearch={(q) => set("q", q)} />
        </PageHead>
        <List
          key={`${kind}:${search}`}
          pages={pages}
          what="records"
          keyOf={(r) => r.hash}
          estimate={60}
          row={(r) => <Row record={r} open={r.hash === opened} onOpen={() => set("record", r.hash)} />}
          empty={
            search || kind !== "all" ? (
              <Screen icon="search" title="Nothing matches">
                No record of this kind matches the search.
              </Screen>
            ) : (
              <Screen icon="empty" title="No records yet">
                Add some with <code>addRecords</code>.
              </Screen>
            )
          }
        />
      </div>
      {opened && <RecordPanel hash={opened} onClose={close} />}
    </div>
  );
}

function Row({ record: r, open, onOpen }: { record: RecordRow; open: boolean; onOpen: () => void }) {
  return (
    <button
      type="button"
      className={styles.row}
      data-open={open}
      data-record={r.hash}
      aria-expanded={open}
      onClick={onOpen}
    >
      <span className={styles.icon}>
        <Icon name="records" />
      </span>
      <span className={styles.title}>
        <bdi>{r.title}</bdi>
        <span>
          {r.kind === "ACCOUNTANT" ? "Ledger" : "Secretary"}: <bdi>{r.book}</bdi>
        </span>
      </span>
      <span className={r.verified ? styles.vouched : styles.unvouched}>
        <Icon name={r.verified ? "check" : "unchecked"} size={14} />
        {r.verified ? "vouched for" : "not vouched for"}
      </span>
      <span className={styles.when}>
        <Time at={r.createdAt} as="ago" />
      </span>
    </button>
  );
}
