import { useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { Button } from "../../ui/Button";
import { nameOf } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { T, t } from "../../words";
import { type Replay, ReplaySelection } from "./query";
import styles from "./Replay.module.css";

/** Has the server compute a selection again, over the log as it stood then. */
export function ReplayOf({ id }: { id: string }) {
  const [wanted, setWanted] = useState(false);
  const [{ data, error, fetching }, again] = useQuery({
    query: ReplaySelection,
    variables: { id },
    pause: !wanted,
    requestPolicy: "network-only",
  });
  const onReplay = () => (wanted ? again() : setWanted(true));
  return (
    <section className={styles.replay} aria-label={t("context.replay")} aria-busy={fetching}>
      <div className={styles.head}>
        <h2>{t("context.replay")}</h2>
        <Button icon="retry" onClick={onReplay} disabled={fetching}>
          {fetching ? t("context.replay.busy") : t("context.replay.again")}
        </Button>
      </div>
      <p className={styles.note}>{t("context.replay.help")}</p>
      <div role="status">
        {fetching ? (
          <Loading what={t("context.replay.loading")} />
        ) : error ? (
          <ErrorScreen error={error} retry={() => again()} />
        ) : (
          data && <Outcome replay={data.replayContext} />
        )}
      </div>
    </section>
  );
}

function Outcome({ replay: r }: { replay: Replay }) {
  if (r.identical) {
    return (
      <p className={styles.same}>
        <Icon name="check" /> <T id="context.identical" />
      </p>
    );
  }
  return (
    <div className={styles.other}>
      <p className={styles.differs}>
        <Icon name="warning" /> <T id="context.differs" />
      </p>
      <ul className={styles.causes} aria-label={t("context.causes")}>
        {r.causes.map((cause) => (
          <li key={cause.kind}>
            <T
              id={cause.alone === null ? "context.cause" : cause.alone ? "context.cause.alone" : "context.cause.not"}
              values={{ cause: t(`context.cause.${cause.kind}`), message: cause.message }}
            />
            {cause.messages.map((m) => (
              <Link key={m.hash} href={`/messages/${m.hash}`}>
                <bdi>{nameOf(m.owner)}</bdi> #{m.sequence}
              </Link>
            ))}
          </li>
        ))}
      </ul>
      <Lines title={t("context.differences")} lines={r.differences} />
      <Lines title={t("context.untold")} lines={r.untold} />
    </div>
  );
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className={styles.lines}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );
}
