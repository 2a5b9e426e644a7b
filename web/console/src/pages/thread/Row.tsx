import { memo } from "react";
import { Link } from "wouter";
import { say } from "../../chain/words";
import { Erased } from "../../ui/Erased";
import { nameOf, plural, short } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import { Avatar, Chip, PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { useLanguage } from "../../words";
import type { LinkState } from "./link";
import type { MessageRow } from "./query";
import { look, Rail } from "./Rail";
import styles from "./Row.module.css";

type Props = {
  message: MessageRow;
  before: MessageRow | undefined;
  state: LinkState;
  open: boolean;
  /** Whether Tab stops here; the arrow keys move it. */
  current: boolean;
  index: number;
  onOpen: (hash: string) => void;
};

const shownRefs = 3;

/** A message in its conversation, with its link of the chain beside it. */
export const Row = memo(function Row({ message: m, before, state, open, current, index, onOpen }: Props) {
  useLanguage(); // memo keeps it as it is otherwise
  const starts = before?.session.hash !== m.session.hash;
  return (
    <>
      {starts && <Boundary message={m} />}
      <article className={styles.row} data-open={open} data-type={m.eventType} aria-label={`Message ${m.sequence}`}>
        <Rail message={m} state={state} start={m.prevHash === null} />
        <div className={styles.card}>
          <Head message={m} state={state} />
          {!starts && before && m.sequence !== before.sequence + 1 && (
            <p className={styles.skipped}>
              <Icon name="link" size={12} /> The session’s numbers between {before.sequence} and {m.sequence} are not in
              this list.
            </p>
          )}
          {m.content === null ? (
            <Erased by={m.integrity.erasure?.hash} />
          ) : (
            <p className={styles.content} dir="auto">
              {m.content}
            </p>
          )}
          <Foot message={m} />
          <Wrong state={state} />
        </div>
        <button
          type="button"
          className={styles.open}
          aria-label={`Open message ${m.sequence} from ${nameOf(m.owner)}`}
          aria-expanded={open}
          tabIndex={current ? 0 : -1}
          data-open-index={index}
          onClick={() => onOpen(m.hash)}
        />
      </article>
    </>
  );
});

function Boundary({ message: m }: { message: MessageRow }) {
  return (
    <h2 className={styles.boundary}>
      <Icon name="link" size={14} />
      Session{" "}
      <Link href={`/sessions/${m.session.hash}`}>
        <code title={m.session.hash}>{short(m.session.hash)}</code>
      </Link>
      <span>{m.sequence === 1 ? "begins" : `continues at #${m.sequence}`}</span>
    </h2>
  );
}

const types: Record<string, { icon: IconName; word: string }> = {
  ERROR: { icon: "error", word: "Error" },
  SYSTEM: { icon: "server", word: "System" },
  TOOL: { icon: "tool", word: "Tool" },
  ERASURE: { icon: "erased", word: "Erasure" },
};

function Head({ message: m, state }: { message: MessageRow; state: LinkState }) {
  const type = types[m.eventType];
  const { icon, word } = look(state);
  return (
    <header className={styles.head}>
      <Avatar of={m.owner} small />
      <b>
        <PlayerName player={m.owner} />
      </b>
      {m.role && <span className={styles.role}>{m.role}</span>}
      {m.players.length > 0 && (
        <span className={styles.to}>
          <span>to</span>{" "}
          {m.players.map((p, i) => (
            <span key={p.hash}>
              {i > 0 && ", "}
              <PlayerName player={p} />
            </span>
          ))}
        </span>
      )}
      {type && (
        <span className={m.eventType === "ERROR" ? styles.errorType : styles.type}>
          <Icon name={type.icon} size={12} />
          {type.word}
        </span>
      )}
      {m.quarantined && (
        <span className={styles.quarantined}>
          <Icon name="quarantine" size={12} />
          In quarantine
        </span>
      )}
      {m.importance > 0 && (
        <span className={styles.important}>
          <Icon name="important" size={12} />
          {m.importance > 1 ? "Very relevant" : "Relevant"}
        </span>
      )}
      <span className={styles.state} aria-hidden="true">
        <Icon name={icon} size={12} />
        {word}
      </span>
      <span className={styles.time}>
        {m.channel && <span className={styles.channel}>{m.channel}</span>}
        <Time at={m.createdAt} />
      </span>
    </header>
  );
}

function Foot({ message: m }: { message: MessageRow }) {
  const things = [m.flag, m.masterItem, ...m.items, m.location, ...m.hashtags].filter((t) => t !== null);
  if (things.length === 0 && m.refs.length === 0) return null;
  return (
    <footer className={styles.foot}>
      {things.map((t, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message never changes, and may name a thing twice
        <Chip key={i} thing={t} main={t === m.masterItem} />
      ))}
      {m.refs.length > 0 && (
        <ul className={styles.refs} aria-label="Sent with">
          {m.refs.slice(0, shownRefs).map((ref) => (
            <li key={ref.position}>
              <Icon name="ref" size={12} />
              <RefLink refTo={ref} />
            </li>
          ))}
          {m.refs.length > shownRefs && <li>and {plural(m.refs.length - shownRefs, "more ref")}</li>}
        </ul>
      )}
    </footer>
  );
}

function RefLink({ refTo: { type, hash, target } }: { refTo: MessageRow["refs"][number] }) {
  if (target?.__typename === "Message") {
    return (
      <Link href={`/messages/${hash}`}>
        #{target.sequence} <bdi>{nameOf(target.owner)}</bdi>
      </Link>
    );
  }
  const kind = type === "ACCOUNTANT" ? "Ledger" : "Secretary";
  if (target?.__typename === "Record") {
    return (
      <Link href={`/records?record=${hash}`}>
        {kind}: <bdi>{target.title}</bdi>
      </Link>
    );
  }
  return (
    <span>
      not in this log: <code>{short(hash)}</code>
    </span>
  );
}

function Wrong({ state }: { state: LinkState }) {
  if (state.kind !== "mismatch") return null;
  return (
    <ul className={styles.wrong}>
      {state.findings.map((f) => (
        <li key={f.kind + f.detail.id}>
          <Icon name="broken" size={14} />
          <span>
            <b>This browser:</b> {say(f.detail)}
          </span>
        </li>
      ))}
      {state.server.map((b) => (
        <li key={b.reason + b.detail}>
          <Icon name="broken" size={14} />
          <span>
            <b>The server:</b> {b.detail}
          </span>
        </li>
      ))}
    </ul>
  );
}
