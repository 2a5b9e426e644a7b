import { useCallback } from "react";
import { useClient } from "urql";
import { useSearchParams } from "wouter";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { useTitle } from "../../app/title";
import { Choice } from "../../ui/Choice";
import { Icon } from "../../ui/icons";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { SearchBox } from "../../ui/SearchBox";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { T, t } from "../../words";
import { recordColumns } from "./columns";
import { type RecordRow, RecordsQuery } from "./query";
import { RecordPanel } from "./RecordPanel";
import styles from "./RecordsPage.module.css";

const kinds = ["all", "ACCOUNTANT", "SECRETARY"] as const;

/** What the ledgers and the secretary hold. A record opens beside the list. */
export default function RecordsPage() {
  useTitle(t("records.title"));
  const client = useClient();
  const [params, setParams] = useSearchParams();
  const kind = kinds.find((k) => k === params.get("kind")) ?? "all";
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
        <PageHead
          title={t("records.title")}
          note={pages.totalCount === null ? "" : t("records.note", { n: pages.totalCount })}
        >
          <Choice
            label={t("records.kind")}
            value={kind}
            options={kinds.map((value) => ({ value, word: t(`records.shown.${value}`) }))}
            onChoose={(k) => set("kind", k === "all" ? "" : k)}
          />
          <SearchBox label={t("records.find")} value={search} onSearch={(q) => set("q", q)} />
          <Take
            file="records"
            columns={recordColumns()}
            rows={pages.fetchPage}
            request={{
              query: RecordsQuery,
              variables: { kind: kind === "all" ? null : kind, search: search || null, after: null, count: true },
            }}
          />
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
              <Screen icon="search" title={t("records.nothing")}>
                {t("records.nothing.help")}
              </Screen>
            ) : (
              <Screen icon="empty" title={t("records.none")}>
                <T id="records.none.help" />
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
