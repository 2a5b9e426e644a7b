import { short } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import { type Id, t } from "../../words";
import type { LinkState, State } from "./link";
import type { MessageRow } from "./query";
import styles from "./Rail.module.css";

const states: Record<State, { icon: IconName; word: Id }> = {
  CHAINED: { icon: "link", word: "thread.state.CHAINED" },
  SEALED: { icon: "sealed", word: "thread.state.SEALED" },
  WITNESSED: { icon: "witnessed", word: "thread.state.WITNESSED" },
  ERASED: { icon: "erased", word: "thread.state.ERASED" },
};

const checks: Record<Exclude<LinkState["kind"], "mismatch">, { word: Id; title: Id }> = {
  unchecked: { word: "thread.check.unchecked", title: "thread.check.unchecked.title" },
  chained: { word: "thread.check.chained", title: "thread.check.chained.title" },
  unsigned: { word: "thread.check.unsigned", title: "thread.check.unsigned.title" },
  proved: { word: "thread.check.proved", title: "thread.check.proved.title" },
};

/** The icon and the word for how far a message is proved. */
export function look({ kind, state }: LinkState): { icon: IconName; word: string } {
  if (kind === "mismatch") return { icon: "broken", word: t("thread.state.mismatch") };
  const claimed = kind === "unchecked" && state === "ERASED";
  return { icon: states[state].icon, word: t(claimed ? "thread.state.claimed" : states[state].word) };
}

/** The word for what of that was checked here; null where it is a mismatch. */
export function checkOf({ kind }: LinkState): { word: Id; title: Id } | null {
  return kind === "mismatch" ? null : checks[kind];
}

/** One link of the chain: the message's number and hash, the hash it names before it, and what is known of it. */
export function Rail({ message, state, start }: { message: MessageRow; state: LinkState; start: boolean }) {
  const { icon, word } = look(state);
  const check = checkOf(state);
  const broken = state.findings.some((f) => f.kind === "link" || f.kind === "gap");
  return (
    <div className={styles.rail} data-state={state.kind} data-start={start} data-broken={broken}>
      <span className={styles.node}>
        <Icon name={icon} size={14} />
      </span>
      <span className={styles.sequence}>#{message.sequence}</span>
      <code className={styles.hash} title={t("thread.rail.hash", { hash: message.hash })}>
        {short(message.hash)}
      </code>
      <code
        className={styles.previous}
        title={message.prevHash ? t("thread.rail.previous", { hash: message.prevHash }) : t("thread.rail.first")}
      >
        {message.prevHash ? `↑ ${short(message.prevHash)}` : t("thread.rail.first")}
      </code>
      <span className={styles.word}>{word}</span>
      {check && (
        <span className={styles.check} title={t(check.title)}>
          {state.kind === "proved" && <Icon name="check" size={12} />}
          {t(check.word)}
        </span>
      )}
    </div>
  );
}
