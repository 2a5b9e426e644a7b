import { useCallback, useEffect, useState } from "react";
import { useClient } from "urql";
import { words } from "../../api/errors";
import { Anchor, type Standing as State } from "../../seal/anchor";
import { forgetPin, readPin } from "../../seal/pin";
import { sourceOf } from "../../seal/query";
import { Button } from "../../ui/Button";
import { dateTime } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { Standing } from "../../ui/Standing";
import { t } from "../../words";
import styles from "./SealPage.module.css";

type Found = { standing: State; at: string } | { error: string } | null;

/** What this browser remembers of the log, and whether the server still shows the same one. */
export function Known({ publicKey }: { publicKey: string }) {
  const client = useClient();
  const [found, setFound] = useState<Found>(null);
  const check = useCallback(async () => {
    const now = () => new Date().toISOString();
    try {
      const { standing } = await Anchor.begin(sourceOf(client), localStorage, now);
      setFound({ standing, at: now() });
    } catch (error) {
      setFound({ error: words(error) });
    }
  }, [client]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another log, to be looked at again
  useEffect(() => {
    void check();
  }, [check, publicKey]);
  const pinNew = () => {
    forgetPin(localStorage);
    void check();
  };
  return (
    <section className={styles.section} aria-labelledby="known">
      <h2 id="known">{t("seal.known")}</h2>
      {found === null ? (
        <p className={styles.none}>{t("seal.known.checking")}</p>
      ) : "error" in found ? (
        <p className={styles.warning} role="alert">
          <Icon name="error" />
          {t("seal.known.failed", { why: found.error })}
        </p>
      ) : (
        <>
          <Standing standing={found.standing} action={<Repin onPin={pinNew} />} />
          {found.standing.checkpoint && (
            <p className={styles.checked}>
              <Icon name={found.standing.checkpoint.signature === "valid" ? "check" : "warning"} size={14} />
              {t(found.standing.checkpoint.signature === "valid" ? "seal.known.valid" : "seal.known.unsigned", {
                n: found.standing.checkpoint.size,
                when: dateTime(found.at),
              })}
            </p>
          )}
        </>
      )}
      <div className={styles.row}>
        <Button icon="retry" onClick={() => void check()}>
          {t("seal.known.again")}
        </Button>
        <span className={styles.none}>{t("seal.known.kept")}</span>
      </div>
    </section>
  );
}

function Repin({ onPin }: { onPin: () => void }) {
  const [sure, setSure] = useState(false);
  if (!readPin(localStorage)) return null;
  return (
    <span className={styles.repin}>
      {sure ? (
        <>
          <span>{t("seal.repin.warning")}</span>
          <Button icon="key" onClick={onPin}>
            {t("seal.repin.sure")}
          </Button>
          <Button onClick={() => setSure(false)}>{t("seal.cancel")}</Button>
        </>
      ) : (
        <Button icon="key" onClick={() => setSure(true)}>
          {t("seal.repin")}
        </Button>
      )}
    </span>
  );
}
