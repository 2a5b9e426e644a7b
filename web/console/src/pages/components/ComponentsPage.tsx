import { useCallback } from "react";
import { useClient } from "urql";
import { Link, useLocation } from "wouter";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Needs } from "../../app/Needs";
import { useTitle } from "../../app/title";
import { addressOf } from "../../ui/address";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { count, nameOf } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { SearchBox } from "../../ui/SearchBox";
import { Side } from "../../ui/Side";
import { Avatar, iconOf } from "../../ui/Things";
import { Take } from "../../ui/take/Take";
import { useAddress } from "../../ui/useAddress";
import { T, t } from "../../words";
import styles from "./ComponentsPage.module.css";
import { componentColumns } from "./columns";
import { Describe } from "./Describe";
import { type Kind, kinds, namespacesOf } from "./kinds";
import { type ComponentRow, ComponentsQuery } from "./query";

const choices = ["all", ...kinds] as const;

/** Players, tags, flags, items and places: found by name, key or words of their description; described anew. */
export default function ComponentsPage() {
  useTitle(t("components.title"));
  const client = useClient();
  const { identity } = useSession();
  const [params, set] = useAddress();
  const [, navigate] = useLocation();
  const kind: Kind | "all" = choices.find((k) => k === params.get("kind")) ?? "all";
  const search = params.get("q") ?? "";
  const making = params.has("new");
  const variables = { namespaces: kind === "all" ? null : [...namespacesOf[kind]], search: search || null };
  const fetchPage = useCallback(
    async (after: string | null) => {
      const namespaces = kind === "all" ? null : [...namespacesOf[kind]];
      return pageOf(
        (await ask(client, ComponentsQuery, { namespaces, search: search || null, after, count: after === null }))
          .components,
      );
    },
    [client, kind, search],
  );
  const pages = usePages(fetchPage);
  const mayDescribe = isAdmin(identity) && has(identity, "memory:write");
  const close = () => {
    set({ new: null });
    document.querySelector<HTMLElement>("[data-new]")?.focus();
  };
  useAction("component.new", () => set({ new: "" }), { enabled: mayDescribe && !making });
  useAction("panel.close", close, { enabled: making });
  const narrowed = search !== "" || kind !== "all";
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead title={t("components.title")} note={pages.totalCount === null ? "" : count(pages.totalCount)}>
          <Choice
            label={t("components.kind")}
            value={kind}
            options={choices.map((value) => ({ value, word: t(`components.kind.${value}`) }))}
            onChoose={(k) => set({ kind: k === "all" ? null : k }, { replace: true })}
          />
          <SearchBox
            label={t("components.find")}
            value={search}
            onSearch={(q) => set({ q: q || null }, { replace: true })}
          />
          <Take
            name={t("components.title")}
            file="components"
            columns={componentColumns()}
            rows={pages.fetchPage}
            request={{ query: ComponentsQuery, variables: { ...variables, after: null, count: true } }}
          />
          {mayDescribe && (
            <Button icon="plus" look="primary" data-new aria-expanded={making} action="component.new">
              {t("components.new")}
            </Button>
          )}
        </PageHead>
        <List
          key={`${kind}:${search}`}
          pages={pages}
          what="components"
          keyOf={(c) => c.hash}
          estimate={60}
          row={(c) => <Row component={c} />}
          empty={
            narrowed ? (
              <Screen
                icon="search"
                title={t("components.nothing")}
                action={
                  <Button icon="close" onClick={() => set({ q: null, kind: null })}>
                    {t("components.clear")}
                  </Button>
                }
              >
                {t("components.nothing.help")}
              </Screen>
            ) : (
              <Screen icon="empty" title={t("components.none")}>
                <T id="components.none.help" />
              </Screen>
            )
          }
        />
      </div>
      {making && (
        <Side title={t("components.new.title")} close={t("components.close")} onClose={close} focus>
          <Needs title={t("components.new.closed")} scope="memory:write" admin>
            <Describe
              of={null}
              hash={params.get("new") || null}
              onSaved={(c) => navigate(addressOf(c))}
              onClose={close}
            />
          </Needs>
        </Side>
      )}
    </div>
  );
}

function Row({ component: c }: { component: ComponentRow }) {
  return (
    <Link href={addressOf(c)} className={styles.row}>
      {c.__typename === "Player" ? (
        <Avatar of={c} />
      ) : (
        <span className={styles.icon}>
          <Icon name={iconOf(c.__typename)} />
        </span>
      )}
      <span className={styles.name}>
        <bdi>{nameOf(c)}</bdi>
        {c.key && <code>{c.key}</code>}
      </span>
      <span className={styles.text} dir="auto">
        {c.description?.slice(0, 400)}
        {c.__typename === "Player" && c.preferences.length > 0 && (
          <span className={styles.prefers}>{t("components.prefers", { what: c.preferences.join("; ") })}</span>
        )}
      </span>
      <span className={styles.namespace} title={t("components.namespace")}>
        {c.namespace}
      </span>
      <ShortHash hash={c.hash} />
    </Link>
  );
}
