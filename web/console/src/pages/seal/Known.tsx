import { useCallback, useEffect, useState } from "react";
import { useClient } from "urql";
import { words } from "../../api/errors";
import { Anchor, type Standing as State } from "../../seal/anchor";
import { forgetPin, readPin } from "../../seal/pin";
import { sourceOf } from "../../seal/query";
import { Button } from "../../ui/Button";
import { dateTime, plural } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { Standing } from "../../ui/Standing";
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
      <h2 id="known">What this browser knows</h2>
      {found === null ? (
        <p className={styles.none}>Checking…</p>
      ) : "error" in found ? (
        <p className={styles.warning} role="alert">
          <Icon name="error" />
          Not checked: {found.error}
        </p>
      ) : (
        <>
          <Standing standing={found.standing} action={<Repin onPin={pinNew} />} />
          {found.standing.checkpoint && (
            <p className={styles.checked}>
              <Icon name={found.standing.checkpoint.signature === "valid" ? "check" : "warning"} size={14} />
              Checkpoint of {plural(found.standing.checkpoint.size, "message")} checked by this browser,{" "}
              {dateTime(found.at)}
              {found.standing.checkpoint.signature === "valid" ? ": its signature holds" : ", but for its signature"}.
            </p>
          )}
        </>
      )}
      <div className={styles.row}>
        <Button icon="retry" onClick={() => void check()}>
          Check again
        </Button>
        <span className={styles.none}>
          Kept in this browser: the key, and the newest checkpoint that it checked. The script that checks came from
          this server.
        </span>
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
          <span>
            This browser forgets what it knew. Do this only if you know from elsewhere why the log is another.
          </span>
          <Button icon="key" onClick={onPin}>
            Forget, and pin what is shown now
          </Button>
          <Button onClick={() => setSure(false)}>Cancel</Button>
        </>
      ) : (
        <Button icon="key" onClick={() => setSure(true)}>
          Trust what is shown now…
        </Button>
      )}
    </span>
  );
}
