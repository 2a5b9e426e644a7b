import type { Finding } from "../../chain/check";
import type { Progress, ServerBreak } from "../../chain/verify";
import { Button } from "../../ui/Button";
import { count, plural, short } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import type { VerificationState } from "./useVerification";
import styles from "./Verify.module.css";

/** Shows where in the list a break is. */
export type Show = (at: { session: string; sequence: number | null; hash: string | null }) => void;

/** Starts the two checks of the chain, and says of each who checked how much and what was found. */
export function Verify({ state, what, show }: { state: VerificationState; what: string; show: Show }) {
  const { phase, found, start, cancel } = state;
  const { browser, server } = found;
  return (
    <section className={styles.verify} aria-label="Chain">
      <div className={styles.bar}>
        {phase === "running" ? (
          <Button icon="close" onClick={cancel}>
            Cancel
          </Button>
        ) : (
          <Button icon="verified" look={phase === "idle" ? "primary" : "plain"} onClick={start}>
            {phase === "idle" ? "Verify chain" : "Verify again"}
          </Button>
        )}
        {phase === "idle" ? (
          <p className={styles.idle}>
            Not checked yet. Recomputes every hash of {what} in this browser, and asks the server to check too.
          </p>
        ) : (
          <div className={styles.verdicts} aria-live="polite">
            <Verdict icon="browser" who="Recomputed in this browser" p={browser} cancelled={phase === "cancelled"}>
              {browser.erased > 0 && `, ${plural(browser.erased, "erased content")} by digest only`}
            </Verdict>
            <Verdict icon="server" who="Server says" p={server} cancelled={phase === "cancelled"} />
          </div>
        )}
      </div>
      {browser.breaks.length + server.breaks.length > 0 && (
        <div className={styles.breaks}>
          <Breaks who="Found by this browser" show={show} breaks={browser.breaks.map(fromFinding)} />
          <Breaks who="Reported by the server" show={show} breaks={server.breaks.map(fromServer)} />
        </div>
      )}
      {phase === "ended" && (
        <p className={styles.caveat}>
          The script that recomputed the hashes came from this server too: it shows mistakes and tampering with the
          data, not a server that lies in its scripts.
        </p>
      )}
    </section>
  );
}

type VerdictProps = {
  icon: IconName;
  who: string;
  p: Progress<unknown>;
  cancelled: boolean;
  children?: React.ReactNode;
};

function Verdict({ icon, who, p, cancelled, children }: VerdictProps) {
  const amount = `${count(p.checked)} of ${count(p.total)}`;
  const [tone, mark, words] = p.error
    ? (["bad", "error", `not finished: ${p.error}`] as const)
    : p.breaks.length > 0
      ? (["bad", "broken", plural(p.breaks.length, "break")] as const)
      : p.done
        ? (["good", "check", p.total === 0 ? "nothing to check" : "no break"] as const)
        : (["muted", "unchecked", cancelled ? "cancelled" : "checking…"] as const);
  return (
    <div className={styles.verdict} data-tone={tone}>
      <Icon name={icon} />
      <span className={styles.who}>{who}</span>
      <span className={styles.amount}>{amount}</span>
      <progress aria-label={who} max={Math.max(p.total, 1)} value={p.total === 0 && p.done ? 1 : p.checked} />
      <span className={styles.words}>
        <Icon name={mark} size={14} />
        {words}
        {children}
      </span>
    </div>
  );
}

type Break = {
  session: string;
  sequence: number | null;
  hash: string | null;
  kind: string;
  detail: string;
  pair?: [computed: string, stated: string];
};

const kinds: Record<Finding["kind"], string> = {
  hash: "Hash mismatch",
  field: "Field mismatch",
  content: "Content mismatch",
  refs: "Refs mismatch",
  format: "Unreadable",
  link: "Broken link",
  gap: "Gap",
  tail: "Missing tail",
};

function fromFinding(f: Finding): Break {
  const { session, sequence, hash, kind, detail, computed, stated } = f;
  const pair = computed !== undefined && stated !== undefined ? { pair: [computed, stated] as [string, string] } : {};
  return { session, sequence, hash, kind: kinds[kind], detail, ...pair };
}

function fromServer(b: ServerBreak): Break {
  const words = b.reason.toLowerCase().replaceAll("_", " ");
  const kind = words.charAt(0).toUpperCase() + words.slice(1);
  return { session: b.session, sequence: b.sequence, hash: b.messageHash, kind, detail: b.detail };
}

function Breaks({ who, breaks, show }: { who: string; breaks: Break[]; show: Show }) {
  if (breaks.length === 0) return null;
  return (
    <div>
      <h2>{who}</h2>
      <ul className={styles.list}>
        {breaks.map((b) => (
          <li key={`${b.session}${b.sequence}${b.kind}${b.detail}`}>
            <Icon name="broken" />
            <div>
              <b>{b.kind}</b>
              {b.sequence !== null && ` at #${b.sequence}`} {b.hash && <code title={b.hash}>{short(b.hash)}</code>} in
              session <code>{short(b.session)}</code>
              <br />
              {b.detail}
              {b.pair && (
                <dl className={styles.pair}>
                  <dt>computed here</dt>
                  <dd>{b.pair[0]}</dd>
                  <dt>stated</dt>
                  <dd>{b.pair[1]}</dd>
                </dl>
              )}
            </div>
            <Button onClick={() => show(b)}>Show</Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
