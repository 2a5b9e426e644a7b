import { useEffect } from "react";
import { useQuery } from "urql";
import { useTitle } from "../../app/title";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
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
  useTitle(t("seal.title"));
  const [{ data, error }, again] = useQuery({ query: SealQuery });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") again();
    }, pace);
    return () => clearInterval(timer);
  }, [again]);
  const seal = data?.seal;
  return (
    <>
      <PageHead title={t("seal.title")} note={t("seal.note")} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.page} tabIndex={0} aria-label={t("seal.region")}>
        {seal ? (
          <>
            <Condition seal={seal} onAccepted={() => again()} />
            <Facts seal={seal} />
            <Known publicKey={seal.publicKey} />
            <Witnesses witnesses={seal.witnesses} sealed={seal.checkpoint?.size ?? 0} />
            <WholeLog />
            <Checkpoints newest={seal.checkpoint?.size ?? 0} />
          </>
        ) : error ? (
          <ErrorScreen error={error} retry={() => again()} />
        ) : (
          <Loading what={t("seal.loading")} />
        )}
      </section>
    </>
  );
}

function Facts({ seal }: { seal: Seal }) {
  const { checkpoint: c, witnessed: w } = seal;
  return (
    <section className={styles.section} aria-labelledby="log">
      <h2 id="log">{t("seal.log")}</h2>
      <dl className={styles.facts}>
        <div>
          <dt>{t("seal.origin")}</dt>
          <dd>
            <code>{seal.origin}</code>
          </dd>
        </div>
        <div>
          <dt>{t("seal.key")}</dt>
          <dd>
            <code>{seal.publicKey}</code> <Copy text={seal.publicKey} label={t("seal.key.copy")} />
          </dd>
        </div>
        <div>
          <dt>{t("seal.newest")}</dt>
          <dd>
            {c ? (
              <>
                <T
                  id="seal.signed"
                  values={{ n: c.size, when: <Time at={c.signedAt} />, cosignatures: c.cosignatures }}
                />
                <br />
                <code title={t("seal.root")}>{c.root}</code> <Copy text={c.note} label={t("seal.checkpoint.copy")} />
              </>
            ) : (
              t("seal.newest.none")
            )}
          </dd>
        </div>
        <div>
          <dt>{t("seal.witnessed")}</dt>
          <dd>
            {w ? (
              <T
                id="seal.signed.plain"
                values={{ n: w.size, when: <Time at={w.signedAt} />, cosignatures: w.cosignatures }}
              />
            ) : (
              t("seal.witnessed.none")
            )}
          </dd>
        </div>
        <div>
          <dt>{t("seal.waiting")}</dt>
          <dd>{seal.waiting === 0 ? t("seal.waiting.none") : t("seal.waiting.some", { n: seal.waiting })}</dd>
        </div>
      </dl>
      <p className={styles.note}>
        <Icon name="key" size={14} />
        <span>
          <T id="seal.keep" components={{ file: (inside) => <a href="/log.pub">{inside}</a> }} />
        </span>
      </p>
    </section>
  );
}
