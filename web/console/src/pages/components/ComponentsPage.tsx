import { useCallback } from "react";
import { useClient } from "urql";
import { useSearchParams } from "wouter";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { useTitle } from "../../app/title";
import { Choice } from "../../ui/Choice";
import { count, nameOf } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { Icon, type IconName } from "../../ui/icons";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { SearchBox } from "../../ui/SearchBox";
import { Avatar } from "../../ui/Things";
import { Take } from "../../ui/take/Take";
import { T, t } from "../../words";
import styles from "./ComponentsPage.module.css";
import { componentColumns } from "./columns";
import { type ComponentRow, ComponentsQuery, type Namespaces } from "./query";

const kinds = {
  all: { namespaces: null },
  players: { namespaces: ["PLY", "PLU", "PLX"] },
  tags: { namespaces: ["HST", "SPE", "VSN", "VUE", "HSU"] },
  flags: { namespaces: ["FLG", "FLU"] },
  items: { namespaces: ["ITM", "ITU", "ITX"] },
  places: { namespaces: ["LOC", "LOU", "LOX"] },
} satisfies Record<string, { namespaces: Namespaces | null }>;

type Kind = keyof typeof kinds;
const choices = Object.keys(kinds) as Kind[];

/** Players, tags, flags, items and places: found by name, key or words of their description. */
export default function ComponentsPage() {
  useTitle(t("components.title"));
  const client = useClient();
  const [params, setParams] = useSearchParams();
  const asked = params.get("kind") ?? "all";
  const kind: Kind = asked in kinds ? (asked as Kind) : "all";
  const search = params.get("q") ?? "";
  const pages = usePages(
    useCallback(
      async (after: string | null) => {
        const { namespaces } = kinds[kind];
        const variables = { namespaces, search: search || null, after, count: after === null };
        return pageOf((await ask(client, ComponentsQuery, variables)).components);
      },
      [client, kind, search],
    ),
  );
  const set = (name: string, value: string) =>
    setParams(
      (p) => {
        const next = new URLSearchParams(p);
        if (value) next.set(name, value);
        else next.delete(name);
        return next;
      },
      { replace: true },
    );
  return (
    <>
      <PageHead title={t("components.title")} note={pages.totalCount === null ? "" : count(pages.totalCount)}>
        <Choice
          label={t("components.kind")}
          value={kind}
          options={choices.map((value) => ({ value, word: t(`components.kind.${value}`) }))}
          onChoose={(k) => set("kind", k === "all" ? "" : k)}
        />
        <SearchBox label={t("components.find")} value={search} onSearch={(q) => set("q", q)} />
        <Take
          file="components"
          columns={componentColumns()}
          rows={pages.fetchPage}
          request={{
            query: ComponentsQuery,
            variables: { namespaces: kinds[kind].namespaces, search: search || null, after: null, count: true },
          }}
        />
      </PageHead>
      <List
        key={`${kind}:${search}`}
        pages={pages}
        what="components"
        keyOf={(c) => c.hash}
        estimate={60}
        row={(c) => <Row component={c} />}
        empty={
          search || kind !== "all" ? (
            <Screen icon="search" title={t("components.nothing")}>
              {t("components.nothing.help")}
            </Screen>
          ) : (
            <Screen icon="empty" title={t("components.none")}>
              <T id="components.none.help" />
            </Screen>
          )
        }
      />
    </>
  );
}

const icons: Record<string, IconName> = { Hashtag: "tag", Flag: "flag", Item: "item", Location: "location" };

function Row({ component: c }: { component: ComponentRow }) {
  const icon = icons[c.__typename];
  return (
    <div className={styles.row}>
      {icon ? (
        <span className={styles.icon}>
          <Icon name={icon} />
        </span>
      ) : (
        <Avatar of={c} />
      )}
      <span className={styles.name}>
        <bdi>{nameOf(c)}</bdi>
        {c.key && <code>{c.key}</code>}
      </span>
      <span className={styles.text} dir="auto">
        {c.description}
        {c.__typename === "Player" && c.preferences.length > 0 && (
          <span className={styles.prefers}>{t("components.prefers", { what: c.preferences.join("; ") })}</span>
        )}
      </span>
      <span className={styles.namespace} title={t("components.namespace")}>
        {c.namespace}
      </span>
      <ShortHash hash={c.hash} />
    </div>
  );
}
