import { useCallback, useMemo } from "react";
import { useClient } from "urql";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Needs } from "../../app/Needs";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Icon } from "../../ui/icons";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { SearchBox } from "../../ui/SearchBox";
import { Side } from "../../ui/Side";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { useAddress } from "../../ui/useAddress";
import { T, t } from "../../words";
import { AddForm } from "./AddForm";
import { BookFilter } from "./BookFilter";
import { recordColumns } from "./columns";
import { type RecordRow, RecordsQuery } from "./query";
import { RecordPanel } from "./RecordPanel";
import styles from "./RecordsPage.module.css";

const kinds = ["all", "ACCOUNTANT", "SECRETARY"] as const;

/** What the ledgers and the secretary hold. A record opens beside the list; administrators add some. */
export default function RecordsPage() {
  useTitle(t("records.title"));
  const client = useClient();
  const { identity } = useSession();
  const [params, set] = useAddress();
  const kind = kinds.find((k) => k === params.get("kind")) ?? "all";
  const [search, book] = [params.get("q") ?? "", params.get("book") ?? ""];
  const opened = params.get("record");
  const making = params.has("new");
  const variables = useMemo(
    () => ({ kind: kind === "all" ? null : kind, book: book || null, search: search || null }),
    [kind, book, search],
  );
  const fetchPage = useCallback(
    async (after: string | null) =>
      pageOf((await ask(client, RecordsQuery, { ...variables, after, count: after === null })).records),
    [client, variables],
  );
  const pages = usePages(fetchPage);
  const mayAdd = isAdmin(identity) && has(identity, "memory:write");
  const close = () => {
    set({ record: null, new: null });
    const opener = opened ? `[data-record="${opened}"]` : "[data-new]";
    document.querySelector<HTMLElement>(opener)?.focus();
  };
  const begin = () => set({ new: "", record: null });
  useAction("record.new", begin, { enabled: mayAdd && !making });
  useAction("panel.close", close, { enabled: opened !== null || making });
  const books = [...new Set(pages.items.map((r) => r.book))].sort();
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead
          title={t("records.title")}
          note={pages.totalCount === null ? "" : t("records.note", { n: pages.totalCount })}
        >
          <Choice
            label={t("records.kind")}
            value={kind}
            options={kinds.map((value) => ({ value, word: t(`records.shown.${value}`) }))}
            onChoose={(k) => set({ kind: k === "all" ? null : k })}
          />
          <BookFilter value={book} known={books} onChoose={(b) => set({ book: b || null })} />
          <SearchBox label={t("records.find")} value={search} onSearch={(q) => set({ q: q || null })} />
          <Take
            name={t("records.title")}
            file="records"
            columns={recordColumns()}
            rows={pages.fetchPage}
            request={{ query: RecordsQuery, variables: { ...variables, after: null, count: true } }}
          />
          {mayAdd && (
            <Button icon="plus" look="primary" data-new aria-expanded={making} action="record.new">
              {t("records.new")}
            </Button>
          )}
        </PageHead>
        <List
          key={`${kind}:${book}:${search}`}
          pages={pages}
          what="records"
          keyOf={(r) => r.hash}
          estimate={60}
          row={(r) => <Row record={r} open={r.hash === opened} onOpen={() => set({ record: r.hash, new: null })} />}
          empty={<Nothing narrowed={search !== "" || book !== "" || kind !== "all"} />}
        />
      </div>
      {making ? (
        <Side title={t("records.new.title")} close={t("records.new.close")} onClose={close} focus>
          <Needs title={t("records.new.closed")} scope="memory:write" admin>
            <AddForm
              kind={variables.kind}
              book={book}
              onAdded={(hash) => {
                pages.reload();
                set({ new: null, record: hash });
              }}
              onClose={close}
            />
          </Needs>
        </Side>
      ) : (
        opened && <RecordPanel hash={opened} onClose={close} />
      )}
    </div>
  );
}

function Nothing({ narrowed }: { narrowed: boolean }) {
  const [, set] = useAddress();
  if (!narrowed) {
    return (
      <Screen icon="empty" title={t("records.none")}>
        <T id="records.none.help" />
      </Screen>
    );
  }
  const clear = (
    <Button icon="close" onClick={() => set({ q: null, kind: null, book: null })}>
      {t("records.clear")}
    </Button>
  );
  return (
    <Screen icon="search" title={t("records.nothing")} action={clear}>
      {t("records.nothing.help")}
    </Screen>
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
          <T id="records.book" values={{ kind: t(`records.kind.${r.kind}`), book: <bdi>{r.book}</bdi> }} />
        </span>
      </span>
      <span className={r.verified ? styles.vouched : styles.unvouched}>
        <Icon name={r.verified ? "check" : "unchecked"} size={14} />
        {r.verified ? t("records.vouched") : t("records.unvouched")}
      </span>
      <span className={styles.when}>
        <Time at={r.createdAt} as="ago" />
      </span>
    </button>
  );
}
