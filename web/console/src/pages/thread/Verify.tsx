import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { type Break, Breaks, fromFinding, fromServer } from "../../ui/Breaks";
import { Button } from "../../ui/Button";
import { Standing } from "../../ui/Standing";
import type { VerificationState } from "./useVerification";
import { Verdicts } from "./Verdicts";
import styles from "./Verify.module.css";

/** Shows where in the list a break is. */
export type Show = (at: { session: string; sequence: number | null; hash: string | null }) => void;

/** Starts the checks of the chain and of the seal, and says of each who checked how much and what was found. */
export function Verify({ state, what, show }: { state: VerificationState; what: string; show: Show }) {
  const { identity } = useSession();
  const { phase, found, start, cancel } = state;
  const { browser, server } = found;
  if (!has(identity, "verify")) {
    return (
      <section className={styles.verify} aria-label="Verification">
        <p className={styles.idle}>
          Not checked: the states below are the server’s word. A check needs a token with the scope verify, which yours
          lacks.
        </p>
      </section>
    );
  }
  const action = (b: Break) => <Button onClick={() => show(b)}>Show</Button>;
  return (
    <section className={styles.verify} aria-label="Verification">
      <div className={styles.bar}>
        {phase === "running" ? (
          <Button icon="close" onClick={cancel}>
            Cancel
          </Button>
        ) : (
          <Button icon="verified" look={phase === "idle" ? "primary" : "plain"} onClick={start}>
            {phase === "idle" ? "Verify" : "Verify again"}
          </Button>
        )}
        {phase === "idle" ? (
          <p className={styles.idle}>
            Not checked yet: the states below are the server’s word. Recomputes every hash of {what} in this browser,
            checks each message’s proof against one signed checkpoint, and asks the server to check too.
          </p>
        ) : (
          <Verdicts found={found} cancelled={phase === "cancelled"} />
        )}
      </div>
      {browser.standing && <Standing standing={browser.standing} />}
      {browser.breaks.length + server.breaks.length > 0 && (
        <div className={styles.breaks}>
          <Breaks who="Found by this browser" action={action} breaks={browser.breaks.map(fromFinding)} />
          <Breaks who="Reported by the server" action={action} breaks={server.breaks.map(fromServer)} />
        </div>
      )}
      {phase === "ended" && (
        <p className={styles.caveat}>
          The script that checked this came from the very server that it checks: it shows mistakes and tampering with
          the data, not a server that lies in its scripts; and cosignatures of witnesses it does not check. For that,
          export the log with its proofs, and on a machine of yours run <code>verify FILE --key log.pub</code> with a
          key that you keep there.
        </p>
      )}
    </section>
  );
}
