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
import styles from "./ComponentsPage.module.css";
import { type ComponentRow, ComponentsQuery, type Namespaces } from "./query";

const kinds = {
  all: { word: "All", namespaces: null },
  players: { word: "Players", namespaces: ["PLY", "PLU", "PLX"] },
  tags: { word: "Tags", namespaces: ["HST", "SPE", "VSN", "VUE", "HSU"] },
  flags: { word: "Flags", namespaces: ["FLG", "FLU"] },
  items: { word: "Items", namespaces: ["ITM", "ITU", "ITX"] },
  places: { word: "Places", namespaces: ["LOC", "LOU", "LOX"] },
} satisfies Record<string, { word: string; namespaces: Namespaces | null }>;

type Kind = keyof typeof kinds;
const options = (Object.keys(kinds) as Kind[]).map((value) => ({ value, word: kinds[value].word }));

/** Players, tags, flags, items and places: found by name, key or words of their description. */
export default function ComponentsPage() {
  useTitle("Components");
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
      <PageHead title="Components" note={pages.totalCount === null ? "" : count(pages.totalCount)}>
        <Choice label="Kind" value={kind} options={options} onChoose={(k) => set("kind", k === "all" ? "" : k)} />
        <SearchBox label="Find by name, key or description" value={search} onSearch={(q) => set("q", q)} />
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
            <Screen icon="search" title="Nothing matches">
              No component of this kind matches the search.
            </Screen>
          ) : (
            <Screen icon="empty" title="No components yet">
              Describe some with <code>upsertComponents</code>.
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
          <span className={styles.prefers}>prefers {c.preferences.join("; ")}</span>
        )}
      </span>
      <span className={styles.namespace} title="namespace">
        {c.namespace}
      </span>
      <ShortHash hash={c.hash} />
    </div>
  );
}
