import { useEffect, useState } from "react";
import { useMutation, useQuery } from "urql";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { count } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { ErrorScreen } from "../../ui/Screen";
import { ServerSaid } from "../../ui/ServerSaid";
import { Why } from "../../ui/Why";
import { t } from "../../words";
import styles from "./Models.module.css";
import { DropEmbeddingModel, type EmbeddingModel, EmbeddingModels } from "./query";

/** How often to look again while something is being embedded, in milliseconds. */
const again = 3000;

/** The models that searches rank by, how much of the log each has, and what keeps one from going on. */
export function Models() {
  const { identity } = useSession();
  const admin = isAdmin(identity) && has(identity, "log:read");
  const [{ data, error, stale }, refresh] = useQuery({
    query: EmbeddingModels,
    pause: !admin,
  });
  const models = data?.embeddingModels ?? [];
  const busy = models.some((m) => m.outstanding > 0 || m.state === "BUILDING");
  useEffect(() => {
    if (!busy || stale) return;
    const timer = setTimeout(() => refresh(), again);
    return () => clearTimeout(timer);
  }, [busy, stale, refresh]);
  if (error && !data) return <ErrorScreen error={error} retry={() => refresh()} />;
  if (models.length === 0) return null;
  return (
    <section className={styles.models} aria-label={t("lab.models.label")}>
      <h2>{t("lab.models")}</h2>
      <ul>
        {models.map((m) => (
          <Model key={m.name} model={m} onDropped={() => refresh()} />
        ))}
      </ul>
    </section>
  );
}

function Model({ model: m, onDropped }: { model: EmbeddingModel; onDropped: () => void }) {
  const { identity } = useSession();
  const total = m.embedded + m.outstanding;
  return (
    <li className={styles.model}>
      <p className={styles.head}>
        <b>{m.name}</b>
        <span className={styles.state} data-state={m.state}>
          {t(`lab.model.${m.state}`)}
        </span>
      </p>
      <p className={styles.facts}>
        {m.kind === "LEXICAL"
          ? t("lab.model.words")
          : m.dimensions
            ? t("lab.model.dimensions", { n: m.dimensions })
            : t("lab.model.meanings")}
      </p>
      {m.outstanding > 0 ? (
        <label className={styles.progress}>
          <progress max={total} value={m.embedded} />
          <span>
            {t("lab.model.progress", {
              done: count(m.embedded),
              all: count(total),
              outstanding: count(m.outstanding),
            })}
          </span>
        </label>
      ) : (
        <p className={styles.facts}>{t("lab.model.embedded", { n: m.embedded })}</p>
      )}
      {m.refused > 0 && <p className={styles.facts}>{t("lab.model.refused", { n: m.refused })}</p>}
      {m.lastError && (
        <p className={styles.problem}>
          <Icon name="warning" size={14} /> <ServerSaid words={m.lastError} />
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
  if (!asked) return <Button onClick={() => setAsked(true)}>{t("lab.model.drop", { name })}</Button>;
  return (
    <fieldset className={styles.drop}>
      <legend>{t("lab.model.drop.sure")}</legend>
      <Button onClick={onClick} disabled={fetching}>
        {t("lab.model.drop.yes")}
      </Button>
      <Button onClick={() => setAsked(false)}>{t("lab.model.drop.no")}</Button>
      {error && (
        <p role="alert">
          <Why error={error} />
        </p>
      )}
    </fieldset>
  );
}
