import { type SubmitEvent, useEffect, useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { has } from "../api/rights";
import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import { nameOf } from "../ui/format";
import { Icon } from "../ui/icons";
import { ErrorScreen, Loading } from "../ui/Screen";
import { ServerSaid } from "../ui/ServerSaid";
import { useSearchParams } from "../ui/useSearchParams";
import { t } from "../words";
import { DifferenceOf } from "./DifferenceOf";
import { type Replay, ReplaySelection, type Selection, type WeightInput } from "./query";
import styles from "./Replay.module.css";
import { Weights } from "./Weights";
import { textsOf, weightsOf } from "./weights";

const logs = ["THEN", "NOW"] as const;
type Log = (typeof logs)[number];

/** What the address says of a replay: `replay` is the log, lower case, and says that one is wanted; `rw` are the weights. */
const logOf = (params: URLSearchParams): Log | null =>
  logs.find((log) => log.toLowerCase() === params.get("replay")) ?? null;

/** Has the server compute a selection again: over the log as it stood then or stands today, with other weights. */
export function ReplayOf({ selection }: { selection: Selection }) {
  const [params, setParams] = useSearchParams();
  const asked = logOf(params);
  const texts = params.getAll("rw").join(" ");
  const [log, setLog] = useState<Log>(asked ?? "THEN");
  const [weights, setWeights] = useState<WeightInput[]>(() => weightsOf(texts.split(" ")));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    setLog(asked ?? "THEN");
    setWeights(weightsOf(texts.split(" ")));
  }, [asked, texts]);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const next = new URLSearchParams(params);
    next.set("replay", log.toLowerCase());
    next.delete("rw");
    for (const text of textsOf(weights)) next.append("rw", text);
    if (next.toString() === params.toString()) setTurn(turn + 1);
    else setParams(next);
  };
  return (
    <section className={styles.replay} aria-label={t("selection.replay")}>
      <h2>{t("selection.replay")}</h2>
      <p className={styles.note}>{t("selection.replay.note")}</p>
      <form className={styles.form} onSubmit={submit}>
        <Choice
          label={t("selection.replay.log")}
          value={log}
          options={logs.map((value) => ({ value, word: t(`selection.replay.log.${value}`) }))}
          onChoose={setLog}
        />
        <Weights chosen={weights} onChange={setWeights} />
        <Button type="submit" icon="retry">
          {t("selection.replay.do")}
        </Button>
      </form>
      {asked && <Outcome key={turn} selection={selection} log={asked} texts={texts} />}
    </section>
  );
}

function Outcome({ selection: s, log, texts }: { selection: Selection; log: Log; texts: string }) {
  const { identity } = useSession();
  const weights = weightsOf(texts.split(" "));
  const [{ data, error, fetching }, again] = useQuery({
    query: ReplaySelection,
    variables: { id: s.id, weights, log, read: has(identity, "log:read") },
  });
  return (
    <div role="status" aria-busy={fetching}>
      {fetching ? (
        <Loading what={t("selection.replay.loading")} />
      ) : error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : (
        data && <Shown selection={s} replay={data.replayContext} plain={log === "THEN" && weights.length === 0} />
      )}
    </div>
  );
}

// plain: the same is asked for, so that another receipt has a cause that is not wanted.
function Shown({ selection: s, replay: r, plain }: { selection: Selection; replay: Replay; plain: boolean }) {
  if (r.identical) {
    return (
      <p className={styles.same}>
        <Icon name="check" />
        <span>
          <b>{t("selection.replay.identical")}</b> {t("selection.replay.identical.detail")}
        </span>
      </p>
    );
  }
  return (
    <div className={styles.other}>
      <p className={styles.differs} data-plain={plain}>
        <Icon name={plain ? "warning" : "ref"} />
        <span>
          <b>{t("selection.replay.differs")}</b> {t("selection.replay.differs.detail")}
        </span>
      </p>
      <Causes causes={r.causes} />
      <h3>{t("selection.difference")}</h3>
      <DifferenceOf
        before={s}
        after={r.selection}
        names={[t("selection.difference.kept"), t("selection.difference.computed")]}
      />
      {r.untold.length > 0 && <p className={styles.note}>{t("selection.replay.untold")}</p>}
    </div>
  );
}

function Causes({ causes }: { causes: Replay["causes"] }) {
  if (causes.length === 0) return null;
  return (
    <ul className={styles.causes} aria-label={t("selection.replay.causes")}>
      {causes.map((cause) => (
        <li key={cause.kind}>
          <b>{t(`selection.cause.${cause.kind}`)}</b> {t(`selection.cause.detail.${cause.kind}`)}
          {cause.alone !== null && ` ${t(cause.alone ? "selection.cause.alone" : "selection.cause.more")}`}{" "}
          <ServerSaid words={cause.message} />
          {cause.messages?.map((m) => (
            <Link key={m.hash} href={`/messages/${m.hash}`}>
              <bdi>{nameOf(m.owner)}</bdi> #{m.sequence}
            </Link>
          ))}
        </li>
      ))}
    </ul>
  );
}
