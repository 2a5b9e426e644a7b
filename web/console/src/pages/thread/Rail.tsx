import { short } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import type { MessageRow } from "./query";
import styles from "./Rail.module.css";
import type { LinkState } from "./useVerification";

const looks: Record<LinkState["kind"], { icon: IconName; word: string }> = {
  unchecked: { icon: "unchecked", word: "not checked" },
  recomputed: { icon: "check", word: "recomputed" },
  erased: { icon: "erased", word: "content erased" },
  mismatch: { icon: "broken", word: "MISMATCH" },
};

/** One link of the chain: the message's number and hash, the hash it names before it, and what is known of it. */
export function Rail({ message, state, start }: { message: MessageRow; state: LinkState; start: boolean }) {
  const { icon, word } = looks[state.kind];
  const broken = state.findings.some((f) => f.kind === "link" || f.kind === "gap");
  return (
    <div className={styles.rail} data-state={state.kind} data-start={start} data-broken={broken}>
      <span className={styles.node}>
        <Icon name={icon} size={14} />
      </span>
      <span className={styles.sequence}>#{message.sequence}</span>
      <code className={styles.hash} title={`hash ${message.hash}`}>
        {short(message.hash)}
      </code>
      <code className={styles.previous} title={message.prevHash ? `previous ${message.prevHash}` : "the first"}>
        {message.prevHash ? `↑ ${short(message.prevHash)}` : "first"}
      </code>
      <span className={styles.word}>{word}</span>
    </div>
  );
}
