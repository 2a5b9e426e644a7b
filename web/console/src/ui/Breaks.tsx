import type { ReactNode } from "react";
import styles from "./Breaks.module.css";
import { short } from "./format";
import { Icon } from "./icons";

/** One thing that is wrong with the log. pair: what was computed, and what was stated. */
export type Break = {
  session: string;
  sequence: number | null;
  hash: string | null;
  kind: string;
  detail: string;
  pair?: [computed: string, stated: string];
};

const ofTheTree = "0".repeat(64); // stands for a session where the tree itself is meant

/** Breaks under the name of who found them; action stands beside each. Nothing if there are none. */
export function Breaks({
  who,
  breaks,
  action,
}: {
  who: string;
  breaks: readonly Break[];
  action?: (b: Break) => ReactNode;
}) {
  if (breaks.length === 0) return null;
  return (
    <div className={styles.group}>
      <h2>{who}</h2>
      <ul className={styles.list}>
        {breaks.map((b) => (
          <li key={`${b.session}${b.sequence}${b.kind}${b.detail}`}>
            <Icon name="broken" />
            <div>
              <b>{b.kind}</b>
              {b.sequence !== null && ` at #${b.sequence}`} {b.hash && <code title={b.hash}>{short(b.hash)}</code>}{" "}
              {b.session === ofTheTree ? (
                "in the tree"
              ) : (
                <>
                  in session <code title={b.session}>{short(b.session)}</code>
                </>
              )}
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
            {action?.(b)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A break as the server reports it. */
export function fromServer(b: {
  session: string;
  sequence: number | null;
  messageHash: string | null;
  reason: string;
  detail: string;
}): Break {
  const words = b.reason.toLowerCase().replaceAll("_", " ");
  const kind = words.charAt(0).toUpperCase() + words.slice(1);
  return { session: b.session, sequence: b.sequence, hash: b.messageHash, kind, detail: b.detail };
}
