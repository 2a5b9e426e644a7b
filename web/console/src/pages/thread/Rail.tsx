import { short } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import type { LinkState, State } from "./link";
import type { MessageRow } from "./query";
import styles from "./Rail.module.css";

const states: Record<State, { icon: IconName; word: string }> = {
  CHAINED: { icon: "link", word: "chained" },
  SEALED: { icon: "sealed", word: "sealed" },
  WITNESSED: { icon: "witnessed", word: "witnessed" },
  ERASED: { icon: "erased", word: "content erased" },
};

const checks: Record<LinkState["kind"], { word: string; title: string }> = {
  unchecked: { word: "not checked", title: "The state is the server’s word: nothing was checked here." },
  chained: { word: "recomputed", title: "Hash and link were recomputed in this browser. No signature covers it here." },
  unsigned: { word: "proof fits", title: "Its proof fits a checkpoint whose signature this browser cannot check." },
  proved: {
    word: "verified",
    title:
      "Recomputed, and proved in this browser to be in the tree that the log signed. That a witness cosigned it, if the word says so, is the server’s word.",
  },
  mismatch: { word: "", title: "" },
};

/** The icon and the word for how far a message is proved. */
export function look({ kind, state }: LinkState): { icon: IconName; word: string } {
  return kind === "mismatch" ? { icon: "broken", word: "MISMATCH" } : states[state];
}

/** One link of the chain: the message's number and hash, the hash it names before it, and what is known of it. */
export function Rail({ message, state, start }: { message: MessageRow; state: LinkState; start: boolean }) {
  const { icon, word } = look(state);
  const check = checks[state.kind];
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
      {check.word && (
        <span className={styles.check} title={check.title}>
          {state.kind === "proved" && <Icon name="check" size={12} />}
          {check.word}
        </span>
      )}
    </div>
  );
}
