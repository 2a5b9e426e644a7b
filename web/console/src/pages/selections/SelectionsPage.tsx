import { useCallback, useMemo } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { count } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { useSearchParams } from "../../ui/useSearchParams";
import { t } from "../../words";
import { selectionColumns } from "./columns";
import { Filters } from "./Filters";
import { type SelectionRow, SelectionsQuery } from "./query";
import styles from "./SelectionsPage.module.css";
import { rangeOf } from "./when";

const filters = ["player", "when", "since", "until"];

/** The selections that were made, the latest first: who asked for what, and what they got. */
export default function SelectionsPage() {
  useTitle(t("selections.title"));
  const client = useClient();
  const { identity } = useSession();
  const [params, setParams] = useSearchParams();
  const address = params.toString();
  // What is relative is of the moment that the list is opened at: its pages are of one list.
  const narrow = useMemo(() => {
    const asked = new URLSearchParams(address);
    return { player: asked.get("player"), ...rangeOf(asked, Date.now()) };
  }, [address]);
  const fetchPage = useCallback(
    async (after: string | null) =>
      pageOf((await ask(client, SelectionsQuery, { ...narrow, after, count: after === null })).selections),
    [client, narrow],
  );
  const pages = usePages(fetchPage);
  const narrowed = filters.some((name) => params.has(name));
  const note = isAdmin(identity) ? "selections.note" : "selections.note.own";
  return (
    <>
      <PageHead title={t("selections.title")} note={pages.totalCount === null ? "" : t(note, { n: pages.totalCount })}>
        <Take
          name={t("selections.title")}
          file="selections"
          columns={selectionColumns()}
          rows={fetchPage}
          request={{ query: SelectionsQuery, variables: { ...narrow, after: null, count: true } }}
        />
      </PageHead>
      <Filters params={params} onChange={(next) => setParams(next, { replace: true })} />
      <List
        key={address}
        pages={pages}
        what="selections"
        keyOf={(s) => s.id}
        estimate={76}
        row={(s) => <Row selection={s} />}
        empty={
          narrowed ? (
            <Screen
              icon="search"
              title={t("selections.filtered")}
              action={<Button onClick={() => setParams(new URLSearchParams())}>{t("selections.filtered.all")}</Button>}
            >
              {t("selections.filtered.detail")}
            </Screen>
          ) : (
            <Screen
              icon="empty"
              title={t("selections.empty")}
              action={<Link href="/context">{t("selections.ask")}</Link>}
            >
              {t("selections.empty.detail")}
            </Screen>
          )
        }
      />
    </>
  );
}

function Row({ selection: s }: { selection: SelectionRow }) {
  return (
    <Link href={`/selections/${encodeURIComponent(s.id)}`} className={styles.row}>
      <span className={styles.query} dir="auto">
        {s.query}
      </span>
      <span className={styles.who}>
        {s.player ? <PlayerName player={s.player} /> : t("selections.admin")} <ShortHash hash={s.receipt} />
      </span>
      <span className={styles.when}>
        <Time at={s.createdAt} as="ago" />
      </span>
      <span className={styles.got}>
        {t("selections.items", { n: s.items.length })}
        {", "}
        {s.tokenBudget === null
          ? t("selection.tokens", { n: s.tokens })
          : t("selections.tokens", { n: count(s.tokens), most: count(s.tokenBudget) })}
      </span>
    </Link>
  );
}
