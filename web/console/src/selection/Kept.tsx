import type { ReactNode } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { has } from "../api/rights";
import { useSession } from "../api/session";
import { count, short } from "../ui/format";
import { ErrorScreen, Loading, Screen } from "../ui/Screen";
import { PlayerName } from "../ui/Things";
import { Time } from "../ui/Time";
import { Take } from "../ui/take/Take";
import { T, t } from "../words";
import { Asked } from "./Asked";
import { Block } from "./Block";
import { rankedColumns, rankedOf } from "./columns";
import { Items, LeftOut } from "./Items";
import styles from "./Kept.module.css";
import { Notices } from "./Notices";
import { type Selection, SelectionQuery } from "./query";
import { Receipt } from "./Receipt";
import { ReplayOf } from "./Replay";
import { Stages } from "./Stages";
import { Tokens } from "./Tokens";
import { WhyNot } from "./WhyNot";

/** A selection as it was kept, by its id: what was chosen and why, what was not, and what its receipt says of that. */
export function Kept({ id, lead }: { id: string; lead?: ReactNode }) {
  const { identity } = useSession();
  const variables = { id, read: has(identity, "log:read") };
  const [{ data, error, fetching }, again] = useQuery({ query: SelectionQuery, variables });
  if (data?.contextSelection) return <Whole selection={data.contextSelection} variables={variables} lead={lead} />;
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  if (fetching) return <Loading what={t("selection.loading")} />;
  return (
    <Screen icon="search" title={t("selection.gone")}>
      {t("selection.gone.detail")}
    </Screen>
  );
}

type Props = { selection: Selection; variables: { id: string; read: boolean }; lead: ReactNode };

function Whole({ selection: s, variables, lead }: Props) {
  return (
    <div className={styles.result}>
      <Summary selection={s} lead={lead} />
      <Receipt selection={s} />
      <Stages stages={s.stages} />
      <Items items={s.items} dropped={s.dropped.length} />
      <div>
        <Take
          name={t("selection.items")}
          file={`selection-${short(s.receipt)}`}
          columns={rankedColumns()}
          rows={rankedOf(s.items, s.dropped)}
          request={{ query: SelectionQuery, variables }}
        />
      </div>
      <LeftOut dropped={s.dropped} open={s.items.length === 0} explained />
      <Block rendered={s.rendered} />
      <Asked request={s.request} policy={s.policy} previous={s.previous?.id ?? null} />
      <WhyNot id={s.id} />
      <ReplayOf selection={s} />
    </div>
  );
}

function Summary({ selection: s, lead }: { selection: Selection; lead: ReactNode }) {
  return (
    <section className={styles.summary} aria-label={t("selection.summary")}>
      <h2 dir="auto">{s.query}</h2>
      <p className={styles.facts}>
        <span>
          <T id="selection.summary.selected" values={{ n: s.items.length }} />
        </span>
        <span>
          <T id="selection.summary.dropped" values={{ n: s.dropped.length }} />
        </span>
        <span>
          <T id="selection.summary.log" values={{ n: count(s.logSize) }} />
        </span>
        <span>
          {s.denseModel === null ? (
            <T id="selection.summary.words" values={{ words: s.embeddingModel }} />
          ) : (
            <T id="selection.summary.dense" values={{ words: s.embeddingModel, dense: s.denseModel }} />
          )}
        </span>
        <span>
          {s.player ? (
            <T id="selection.summary.player" values={{ name: <PlayerName player={s.player} /> }} />
          ) : (
            t("selection.summary.admin")
          )}
        </span>
        <Time at={s.createdAt} />
      </p>
      <Tokens tokens={s.tokens} budget={s.tokenBudget} />
      {s.previous && (
        <p className={styles.facts}>
          <span>
            <T
              id="selection.summary.unchanged"
              values={{ n: s.unchangedTokens }}
              components={{
                link: (inside) => (
                  <Link href={`/selections/${encodeURIComponent(s.previous?.id ?? "")}`}>{inside}</Link>
                ),
              }}
            />
          </span>
        </p>
      )}
      {lead}
      <Notices notices={s.noticeDetails} request={s.request} />
    </section>
  );
}
