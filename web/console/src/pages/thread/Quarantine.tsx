import type { ReactElement } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { press } from "../../actions/press";
import { useAction } from "../../actions/useAction";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Place, Release } from "../../quarantine/Act";
import { Holders } from "../../quarantine/Holders";
import { QuarantineQuery } from "../../quarantine/query";
import { Icon } from "../../ui/icons";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { Why } from "../../ui/Why";
import { T, t } from "../../words";
import { Section } from "./Panel";
import styles from "./Panel.module.css";
import type { WholeMessage } from "./query";

type Props = { message: WholeMessage; onChanged: () => void };

/** Whether a message is in quarantine; for administrators since when, why, and which selections hold it. */
export function Quarantine({ message: m, onChanged }: Props) {
  const { identity } = useSession();
  if (isAdmin(identity)) return <Known message={m} onChanged={onChanged} />;
  if (!m.quarantined) return null;
  return (
    <Section title={t("thread.quarantine")}>
      <p className={styles.bad}>
        <Icon name="quarantine" />
        {t("thread.quarantine.care")}
      </p>
    </Section>
  );
}

function Known({ message: m, onChanged }: Props) {
  const { identity } = useSession();
  const [{ data, error }, again] = useQuery({
    query: QuarantineQuery,
    variables: { message: m.hash },
  });
  const q = data?.quarantine?.message.hash === m.hash ? data.quarantine : null;
  const may = has(identity, "log:append");
  useAction("message.quarantine", () => press("place"), { enabled: may && !m.quarantined });
  useAction("message.release", () => press("release"), { enabled: may && m.quarantined });
  const done = () => {
    again();
    onChanged();
  };
  return (
    <Section title={t("thread.quarantine")}>
      {m.quarantined ? (
        <p className={styles.bad}>
          <Icon name="quarantine" />
          {t("thread.quarantine.in")}
        </p>
      ) : (
        <p className={styles.none}>{t(q ? "thread.quarantine.released" : "thread.quarantine.no")}</p>
      )}
      {error && (
        <p role="alert">
          <T id="thread.quarantine.failed" values={{ why: <Why error={error} /> }} />
        </p>
      )}
      {q && (
        <>
          <dl className={styles.fields}>
            <Fact
              name={t(q.release ? "thread.quarantine.from" : "thread.quarantine.since")}
              by={<PlayerName player={q.placedBy} />}
              at={q.placedAt}
              event={q.event.hash}
            />
            <div>
              <dt>{t("thread.erased.why")}</dt>
              <dd dir="auto">{q.reason}</dd>
            </div>
            {q.release && (
              <>
                <Fact
                  name={t("thread.quarantine.release")}
                  by={<PlayerName player={q.release.by} />}
                  at={q.release.at}
                  event={q.release.event.hash}
                />
                <div>
                  <dt>{t("thread.erased.why")}</dt>
                  <dd dir="auto">{q.release.reason}</dd>
                </div>
              </>
            )}
          </dl>
          <Holders key={m.hash} of={q} />
        </>
      )}
      {may && <div>{m.quarantined ? <Release message={m} onDone={done} /> : <Place message={m} onDone={done} />}</div>}
    </Section>
  );
}

function Fact({ name, at, by, event }: { name: string; at: string; by: ReactElement; event: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <T
          id="thread.quarantine.fact"
          values={{ at: <Time at={at} />, by }}
          components={{
            link: (inside) => (
              <Link href={`/messages/${event}`} className={styles.inText}>
                {inside}
              </Link>
            ),
          }}
        />
      </dd>
    </div>
  );
}
