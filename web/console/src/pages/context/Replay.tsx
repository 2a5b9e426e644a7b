import { useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { Button } from "../../ui/Button";
import { nameOf } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { ErrorScreen, Loading } from "../../ui/Screen";
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
    <section className={styles.replay} aria-label="Replay" aria-busy={fetching}>
      <div className={styles.head}>
        <h2>Replay</h2>
        <Button icon="retry" onClick={onReplay} disabled={fetching}>
          {fetching ? "Computing…" : "Compute it again"}
        </Button>
      </div>
      <p className={styles.note}>
        The same request over the log as it stood then, under the ranking of now. The server does it, and keeps nothing.
      </p>
      <div role="status">
        {fetching ? (
          <Loading what="the replay" />
        ) : error ? (
          <ErrorScreen error={error} retry={() => again()} />
        ) : (
          data && <Outcome replay={data.replayContext} />
        )}
      </div>
    </section>
  );
}

const kinds: Record<Replay["causes"][number]["kind"], string> = {
  POLICY: "Policy changed",
  MODEL: "Model changed",
  ERASED: "Message erased",
  QUARANTINED: "Message in quarantine",
  COMPONENTS: "Names or preferences changed",
  LATE: "Written late",
  UNKNOWN: "Cause unknown",
};

function Outcome({ replay: r }: { replay: Replay }) {
  if (r.identical) {
    return (
      <p className={styles.same}>
        <Icon name="check" /> <b>Identical.</b> It has the same receipt.
      </p>
    );
  }
  return (
    <div className={styles.other}>
      <p className={styles.differs}>
        <Icon name="warning" /> <b>Not identical.</b> It would have another receipt.
      </p>
      <ul className={styles.causes} aria-label="Causes">
        {r.causes.map((cause) => (
          <li key={cause.kind}>
            <b>{kinds[cause.kind]}:</b> {cause.message}
            {cause.alone !== null && (cause.alone ? " That alone explains it." : " That alone does not explain it.")}
            {cause.messages.map((m) => (
              <Link key={m.hash} href={`/messages/${m.hash}`}>
                <bdi>{nameOf(m.owner)}</bdi> #{m.sequence}
              </Link>
            ))}
          </li>
        ))}
      </ul>
      <Lines title="Differences" lines={r.differences} />
      <Lines title="What cannot be told" lines={r.untold} />
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
