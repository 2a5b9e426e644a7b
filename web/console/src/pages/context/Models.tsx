import { useEffect, useState } from "react";
import { useMutation, useQuery } from "urql";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { count, plural } from "../../ui/format";
import { Icon } from "../../ui/icons";
import styles from "./Models.module.css";
import { DropEmbeddingModel, type EmbeddingModel, EmbeddingModels } from "./query";

/** How often to look again while something is being embedded, in milliseconds. */
const again = 3000;

/** The models that searches rank by, how much of the log each has, and what keeps one from going on. */
export function Models() {
  const { identity } = useSession();
  const admin = isAdmin(identity) && has(identity, "log:read");
  const [{ data, stale }, refresh] = useQuery({
    query: EmbeddingModels,
    pause: !admin,
    requestPolicy: "cache-and-network",
  });
  const models = data?.embeddingModels ?? [];
  const busy = models.some((m) => m.outstanding > 0 || m.state === "BUILDING");
  useEffect(() => {
    if (!busy || stale) return;
    const timer = setTimeout(() => refresh({ requestPolicy: "network-only" }), again);
    return () => clearTimeout(timer);
  }, [busy, stale, refresh]);
  if (models.length === 0) return null;
  return (
    <section className={styles.models} aria-label="Search models">
      <h2>Ranked by</h2>
      <ul>
        {models.map((m) => (
          <Model key={m.name} model={m} onDropped={() => refresh({ requestPolicy: "network-only" })} />
        ))}
      </ul>
    </section>
  );
}

const states: Record<EmbeddingModel["state"], string> = {
  SERVING: "in use",
  BUILDING: "being built",
  KEPT: "kept for replays",
};

function Model({ model: m, onDropped }: { model: EmbeddingModel; onDropped: () => void }) {
  const { identity } = useSession();
  const total = m.embedded + m.outstanding;
  return (
    <li className={styles.model}>
      <p className={styles.head}>
        <b>{m.name}</b>
        <span className={styles.state} data-state={m.state}>
          {states[m.state]}
        </span>
      </p>
      <p className={styles.facts}>
        {m.kind === "LEXICAL"
          ? "Words, without a model"
          : `Meanings${m.dimensions ? `, ${m.dimensions} dimensions` : ""}`}
      </p>
      {m.outstanding > 0 ? (
        <label className={styles.progress}>
          <progress max={total} value={m.embedded} />
          <span>
            {count(m.embedded)} of {count(total)}; {count(m.outstanding)} outstanding
          </span>
        </label>
      ) : (
        <p className={styles.facts}>{plural(m.embedded, "message or record", "messages and records")}</p>
      )}
      {m.refused > 0 && (
        <p className={styles.facts}>{count(m.refused)} not taken by the provider: found by their words alone</p>
      )}
      {m.lastError && (
        <p className={styles.problem}>
          <Icon name="warning" size={14} /> <span>{m.lastError}</span>
        </p>
      )}
      {m.state === "KEPT" && has(identity, "memory:write") && <Drop name={m.name} onDropped={onDropped} />}
    </li>
  );
}

function Drop({ name, onDropped }: { name: string; onDropped: () => void }) {
  const [asked, setAsked] = useState(false);
  const [{ fetching, error }, drop] = useMutation(DropEmbeddingModel);
  const onClick = async () => {
    if (!(await drop({ name })).error) onDropped();
  };
  if (!asked) return <Button onClick={() => setAsked(true)}>Drop {name}…</Button>;
  return (
    <fieldset className={styles.drop}>
      <legend>Drop its vectors for good? What was ranked under it can then not be computed again.</legend>
      <Button onClick={onClick} disabled={fetching}>
        Drop for good
      </Button>
      <Button onClick={() => setAsked(false)}>Keep</Button>
      {error && <p role="alert">{error.message}</p>}
    </fieldset>
  );
}
