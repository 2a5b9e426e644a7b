import { useEffect } from "react";
import { useQuery } from "urql";
import { useTitle } from "../../app/title";
import { count, plural } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { Checkpoints } from "./Checkpoints";
import { Condition } from "./Condition";
import { Known } from "./Known";
import { type Seal, SealQuery } from "./query";
import styles from "./SealPage.module.css";
import { WholeLog } from "./WholeLog";
import { Witnesses } from "./Witnesses";

const pace = 3_000; // milliseconds between looks at the seal

/** Whether the log is sealed, under which name and key, who witnesses it, and the check of all of it. */
export default function SealPage() {
  useTitle("Seal");
  const [{ data, error }, again] = useQuery({ query: SealQuery, requestPolicy: "network-only" });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") again({ requestPolicy: "network-only" });
    }, pace);
    return () => clearInterval(timer);
  }, [again]);
  const seal = data?.seal;
  return (
    <>
      <PageHead title="Seal" note="What is signed of the log, and by whom it is witnessed" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.page} tabIndex={0} aria-label="The seal">
        {seal ? (
          <>
            <Condition seal={seal} />
            <Facts seal={seal} />
            <Known publicKey={seal.publicKey} />
            <Witnesses witnesses={seal.witnesses} sealed={seal.checkpoint?.size ?? 0} />
            <WholeLog />
            <Checkpoints newest={seal.checkpoint?.size ?? 0} />
          </>
        ) : error ? (
          <ErrorScreen error={error} retry={() => again({ requestPolicy: "network-only" })} />
        ) : (
          <Loading what="the seal" />
        )}
      </section>
    </>
  );
}

function Facts({ seal }: { seal: Seal }) {
  const { checkpoint: c, witnessed: w } = seal;
  return (
    <section className={styles.section} aria-labelledby="log">
      <h2 id="log">The log</h2>
      <dl className={styles.facts}>
        <div>
          <dt>Name (origin)</dt>
          <dd>
            <code>{seal.origin}</code>
          </dd>
        </div>
        <div>
          <dt>Public key</dt>
          <dd>
            <code>{seal.publicKey}</code> <Copy text={seal.publicKey} label="Copy the key" />
          </dd>
        </div>
        <div>
          <dt>Newest checkpoint</dt>
          <dd>
            {c ? (
              <>
                <b>{plural(c.size, "message")}</b>, signed <Time at={c.signedAt} />,{" "}
                {plural(c.cosignatures, "cosignature")}
                <br />
                <code title="root">{c.root}</code> <Copy text={c.note} label="Copy the checkpoint" />
              </>
            ) : (
              "none yet: nothing is sealed"
            )}
          </dd>
        </div>
        <div>
          <dt>Newest witnessed</dt>
          <dd>
            {w ? (
              <>
                {plural(w.size, "message")}, signed <Time at={w.signedAt} />, {plural(w.cosignatures, "cosignature")}
              </>
            ) : (
              "none: no witness has cosigned a checkpoint"
            )}
          </dd>
        </div>
        <div>
          <dt>Waiting</dt>
          <dd>{seal.waiting === 0 ? "nothing" : `${count(seal.waiting)} only chained, not yet in the tree`}</dd>
        </div>
      </dl>
      <p className={styles.note}>
        <Icon name="key" size={14} />
        <span>
          Keep the key where this server cannot change it; <a href="/log.pub">/log.pub</a> gives it as a file. An export
          with proofs is then checked without this server: <code>verify FILE --key log.pub</code>.
        </span>
      </p>
    </section>
  );
}
