import { useCallback } from "react";
import { useClient } from "urql";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { Button } from "../../ui/Button";
import { count } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { Why } from "../../ui/Why";
import { T, t } from "../../words";
import { checkpointColumns } from "./columns";
import { CheckpointsQuery } from "./query";
import styles from "./SealPage.module.css";

/** Every checkpoint that was signed, the newest first. newest: the size of the newest that there is by now. */
export function Checkpoints({ newest }: { newest: number }) {
  const client = useClient();
  const pages = usePages(
    useCallback(
      async (after: string | null) =>
        pageOf((await ask(client, CheckpointsQuery, { after, count: after === null })).checkpoints),
      [client],
    ),
  );
  const { items, totalCount, loading, error, hasMore, more, reload } = pages;
  const first = items[0]?.size ?? 0;
  return (
    <section className={styles.section} aria-labelledby="checkpoints">
      <h2 id="checkpoints">
        {totalCount === null ? t("seal.checkpoints") : t("seal.checkpoints.counted", { n: totalCount })}
      </h2>
      {items.length > 0 && (
        <div className={styles.row}>
          <Take
            name={t("seal.checkpoints")}
            file="checkpoints"
            columns={checkpointColumns()}
            rows={pages.fetchPage}
            request={{ query: CheckpointsQuery, variables: { after: null, count: true } }}
          />
        </div>
      )}
      {items.length > 0 && first !== newest && (
        <div className={styles.row}>
          <Button icon="retry" onClick={reload}>
            {t("seal.checkpoints.newer")}
          </Button>
        </div>
      )}
      {items.length === 0 && !loading && !error && <p className={styles.none}>{t("seal.checkpoints.none")}</p>}
      <ol className={styles.list}>
        {items.map((c) => (
          <li key={c.note}>
            <b className={styles.size}>{count(c.size)}</b>
            <span className={styles.grow}>
              <code className={styles.root} title={t("seal.root")}>
                {c.root}
              </code>
              <br />
              <span className={styles.none}>
                <T
                  id="seal.checkpoint.facts"
                  values={{
                    origin: c.note.slice(0, c.note.indexOf("\n")),
                    when: <Time at={c.signedAt} />,
                    n: c.cosignatures,
                  }}
                />
              </span>
            </span>
            <Copy text={c.note} label={t("seal.copy")} />
          </li>
        ))}
      </ol>
      {error && (
        <p className={styles.warning} role="alert">
          <T id="seal.checkpoints.failed" values={{ why: <Why error={error} /> }} />
        </p>
      )}
      {(hasMore || error) && (
        <div className={styles.row}>
          <Button disabled={loading} onClick={() => void more()}>
            {error ? t("seal.again") : t("seal.checkpoints.older")}
          </Button>
        </div>
      )}
    </section>
  );
}
