import { useCallback } from "react";
import { useClient } from "urql";
import { Link } from "wouter";
import { press } from "../../actions/press";
import { useAction } from "../../actions/useAction";
import { usePages } from "../../api/pages";
import { ask } from "../../api/query";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { Release } from "../../quarantine/Act";
import { Holders } from "../../quarantine/Holders";
import { type QuarantineOf, QuarantinesQuery } from "../../quarantine/query";
import { Choice } from "../../ui/Choice";
import { Erased } from "../../ui/Erased";
import { nameOf } from "../../ui/format";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { Avatar, PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { useSearchParams } from "../../ui/useSearchParams";
import { t } from "../../words";
import { quarantineColumns } from "./columns";
import styles from "./QuarantinePage.module.css";

const shown = { now: true, released: false, all: null }; // whether they are in force

type Shown = keyof typeof shown;
const choices = Object.keys(shown) as Shown[];

/** Messages that were taken out of selections: why, by whom, and which selections hold them. */
export default function QuarantinePage() {
  useTitle(t("quarantine.title"));
  const client = useClient();
  const { identity } = useSession();
  const [params, setParams] = useSearchParams();
  const asked = params.get("show") ?? "now";
  const show: Shown = asked in shown ? (asked as Shown) : "now";
  const pages = usePages(
    useCallback(
      async (after: string | null) => {
        const active = shown[show];
        const { quarantines: q } = await ask(client, QuarantinesQuery, { active, after, count: after === null });
        const { pageInfo, totalCount } = q;
        const items = q.edges.map((e) => ({ ...e.node, cursor: e.cursor }));
        return { items, ...pageInfo, ...(totalCount !== undefined && { totalCount }) };
      },
      [client, show],
    ),
  );
  const mayRelease = has(identity, "log:append") && pages.items.some((q) => !q.release);
  useAction("message.release", () => press("release"), { enabled: mayRelease });
  return (
    <>
      <PageHead
        title={t("quarantine.title")}
        note={pages.totalCount === null ? "" : t("quarantine.note", { n: pages.totalCount })}
      >
        <Choice
          label={t("quarantine.which")}
          value={show}
          options={choices.map((value) => ({ value, word: t(`quarantine.shown.${value}`) }))}
          onChoose={(s) => setParams(new URLSearchParams(s === "now" ? {} : { show: s }), { replace: true })}
        />
        <Take
          name={t("quarantine.title")}
          file="quarantine"
          columns={quarantineColumns()}
          rows={pages.fetchPage}
          request={{ query: QuarantinesQuery, variables: { active: shown[show], after: null, count: true } }}
        />
      </PageHead>
      <List
        key={show}
        pages={pages}
        what="quarantines"
        keyOf={(q) => q.cursor}
        estimate={170}
        row={(q) => <Row of={q} onReleased={pages.reload} />}
        empty={
          <Screen icon="quarantine" title={show === "released" ? t("quarantine.none.released") : t("quarantine.none")}>
            {t("quarantine.none.help")}
          </Screen>
        }
      />
    </>
  );
}

function Row({ of: q, onReleased }: { of: QuarantineOf; onReleased: () => void }) {
  const { identity } = useSession();
  const { message: m, release } = q;
  return (
    <article
      className={styles.row}
      aria-label={t("quarantine.message", { sequence: m.sequence, name: nameOf(m.owner) })}
    >
      <Avatar of={m.owner} />
      <div className={styles.what}>
        <p className={styles.from}>
          <Link href={`/messages/${m.hash}`}>
            <PlayerName player={m.owner} /> #{m.sequence}
          </Link>
          <Time at={m.createdAt} />
        </p>
        <p className={styles.content} dir="auto">
          {m.content ?? <Erased by={m.integrity.erasure?.hash} />}
        </p>
        <dl className={styles.facts}>
          <Fact name={t("quarantine.fact.now")} at={q.placedAt} by={q.placedBy} event={q.event.hash} why={q.reason} />
          {release && (
            <Fact
              name={t("quarantine.released")}
              at={release.at}
              by={release.by}
              event={release.event.hash}
              why={release.reason}
            />
          )}
        </dl>
        <Holders of={q} />
      </div>
      <div className={styles.act}>
        {!release && has(identity, "log:append") && <Release message={m} onDone={onReleased} />}
      </div>
    </article>
  );
}

type FactProps = { name: string; at: string; by: QuarantineOf["placedBy"]; event: string; why: string };

function Fact({ name, at, by, event, why }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span dir="auto">{why}</span>
        <span className={styles.when}>
          <PlayerName player={by} />, <Time at={at} />,{" "}
          <Link href={`/messages/${event}`}>{t("quarantine.record")}</Link>
        </span>
      </dd>
    </div>
  );
}
