import { useCallback } from "react";
import { useClient } from "urql";
import { Link, useLocation } from "wouter";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Needs } from "../../app/Needs";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { Side } from "../../ui/Side";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { useAddress } from "../../ui/useAddress";
import { T, t } from "../../words";
import { addressOf } from "./address";
import { windowColumns } from "./columns";
import { Gauge } from "./Gauge";
import { Metrics } from "./Metrics";
import { NewWindow } from "./NewWindow";
import { type WindowRow, WindowsQuery } from "./query";
import styles from "./Windows.module.css";

/** The windows that agents keep on this server, how full each is, and how all of them do. */
export default function WindowsPage() {
  useTitle(t("windows.title"));
  const client = useClient();
  const { identity } = useSession();
  const [, go] = useLocation();
  const [params, set] = useAddress();
  const making = params.has("new");
  const mayMake = has(identity, "memory:write");
  const pages = usePages(
    useCallback(
      async (after: string | null) =>
        pageOf((await ask(client, WindowsQuery, { after, count: after === null })).windows),
      [client],
    ),
  );
  const close = () => {
    set({ new: null });
    document.querySelector<HTMLElement>("[data-new]")?.focus();
  };
  useAction("window.new", () => set({ new: "" }), { enabled: mayMake && !making });
  useAction("panel.close", close, { enabled: making });
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead
          title={t("windows.title")}
          note={pages.totalCount === null ? "" : t("windows.note", { n: pages.totalCount })}
        >
          <Take
            name={t("windows.title")}
            file="windows"
            columns={windowColumns()}
            rows={pages.fetchPage}
            request={{ query: WindowsQuery, variables: { after: null, count: true } }}
          />
          {mayMake && (
            <Button icon="plus" look="primary" data-new aria-expanded={making} action="window.new">
              {t("windows.new")}
            </Button>
          )}
        </PageHead>
        <Metrics params={params} set={set} />
        <List
          pages={pages}
          what="windows"
          keyOf={(w) => w.id}
          estimate={76}
          row={(w) => <Row of={w} />}
          empty={
            <Screen icon="empty" title={t("windows.none")}>
              {t("windows.none.help")}
            </Screen>
          }
        />
      </div>
      {making && (
        <Side title={t("windows.new.title")} close={t("windows.new.close")} onClose={close} focus>
          <Needs title={t("windows.new.closed")} scope="memory:write">
            <NewWindow onMade={(id) => go(addressOf(id))} onClose={close} />
          </Needs>
        </Side>
      )}
    </div>
  );
}

function Row({ of: w }: { of: WindowRow }) {
  return (
    <article className={styles.row}>
      <Link href={addressOf(w.id)} className={styles.name}>
        <bdi>{w.name}</bdi>
      </Link>
      <p className={styles.facts}>
        <span>
          {w.agent ? <PlayerName player={w.agent} link /> : t("windows.agent.none")}
          {", "}
          <T id="windows.since" values={{ when: <Time at={w.createdAt} /> }} />
        </span>
        {w.task && (
          <span className={styles.task} dir="auto">
            {w.task}
          </span>
        )}
      </p>
      <Gauge {...w} />
    </article>
  );
}
