import { memo } from "react";
import { Link } from "wouter";
import { say } from "../../chain/words";
import { keyOf } from "../../ui/Breaks";
import { Erased } from "../../ui/Erased";
import { nameOf, short } from "../../ui/format";
import { Icon, type IconName } from "../../ui/icons";
import { Avatar, Chip, PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { type Id, T, t, useLanguage } from "../../words";
import { goneOf, type LinkState, sameState } from "./link";
import type { MessageRow } from "./query";
import { checkOf, look, Rail } from "./Rail";
import styles from "./Row.module.css";

type Props = {
  message: MessageRow;
  /** The one before it in the list: null if it is the first, undefined if that is not known now. */
  before: MessageRow | null | undefined;
  /** Whether numbers that the list leaves out are worth a word. */
  gaps: boolean;
  state: LinkState;
  open: boolean;
  /** Whether Tab stops here; the arrow keys move it. */
  current: boolean;
  index: number;
  onOpen: (message: MessageRow, index: number) => void;
};

const shownRefs = 3;
const shownContent = 4_000; // characters: more would be cut off below anyway

// What is known of a message is told anew with each step of a check, and hardly ever differs.
const sameProps = ({ state: before, ...old }: Props, { state: now, ...others }: Props): boolean =>
  sameState(before, now) && (Object.keys(others) as (keyof typeof others)[]).every((k) => Object.is(old[k], others[k]));

/** A message in its conversation, with its link of the chain beside it. */
export const Row = memo(function Row({ message: m, before, gaps, state, open, current, index, onOpen }: Props) {
  useLanguage();
  const starts = before !== undefined && before?.session.hash !== m.session.hash;
  return (
    <>
      {starts && <Boundary message={m} />}
      <article
        className={styles.row}
        data-open={open}
        data-type={m.eventType}
        aria-label={t("thread.row", { n: String(m.sequence) })}
      >
        <Rail message={m} state={state} start={m.prevHash === null} />
        <div className={styles.card}>
          <Head message={m} state={state} />
          {gaps && !starts && before && m.sequence !== before.sequence + 1 && (
            <p className={styles.skipped}>
              <Icon name="link" size={12} />{" "}
              {t("thread.row.gap", { from: String(before.sequence), to: String(m.sequence) })}
            </p>
          )}
          {m.content === null ? (
            <Erased by={m.integrity.erasure?.hash} known={goneOf(state, m.integrity.erasure?.hash)} />
          ) : (
            <p className={styles.content} dir="auto">
              {m.content.slice(0, shownContent)}
            </p>
          )}
          <Foot message={m} />
          <Wrong state={state} />
        </div>
        <button
          type="button"
          className={styles.open}
          aria-label={t("thread.row.open", { n: String(m.sequence), who: nameOf(m.owner) })}
          aria-expanded={open}
          tabIndex={current ? 0 : -1}
          data-open-index={index}
          onClick={() => onOpen(m, index)}
        />
      </article>
    </>
  );
}, sameProps);

function Boundary({ message: m }: { message: MessageRow }) {
  const session = (
    <Link href={`/sessions/${m.session.hash}`}>
      <code title={m.session.hash}>{short(m.session.hash)}</code>
    </Link>
  );
  return (
    <h2 className={styles.boundary}>
      <Icon name="link" size={14} />
      <span>
        {m.sequence === 1 ? (
          <T id="thread.session.begins" values={{ session }} />
        ) : (
          <T id="thread.session.continues" values={{ session, n: String(m.sequence) }} />
        )}
      </span>
    </h2>
  );
}

const types: Record<string, { icon: IconName; word: Id }> = {
  ERROR: { icon: "error", word: "thread.type.ERROR" },
  SYSTEM: { icon: "server", word: "thread.type.SYSTEM" },
  TOOL: { icon: "tool", word: "thread.type.TOOL" },
  ERASURE: { icon: "erased", word: "thread.type.ERASURE" },
};

function Head({ message: m, state }: { message: MessageRow; state: LinkState }) {
  const type = types[m.eventType];
  const { icon, word } = look(state);
  const check = checkOf(state);
  return (
    <header className={styles.head}>
      <Avatar of={m.owner} small />
      <b>
        <PlayerName player={m.owner} />
      </b>
      {m.role && <span className={styles.role}>{m.role}</span>}
      {m.players.length > 0 && (
        <span className={styles.to}>
          <span>{t("thread.row.to")}</span>{" "}
          {m.players.map((p, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a message never changes, and may name a player twice
            <span key={i}>
              {i > 0 && ", "}
              <PlayerName player={p} />
            </span>
          ))}
        </span>
      )}
      {type && (
        <span className={m.eventType === "ERROR" ? styles.errorType : styles.type}>
          <Icon name={type.icon} size={12} />
          {t(type.word)}
        </span>
      )}
      {m.quarantined && (
        <span className={styles.quarantined}>
          <Icon name="quarantine" size={12} />
          {t("thread.row.quarantined")}
        </span>
      )}
      {m.importance > 0 && (
        <span className={styles.important}>
          <Icon name="important" size={12} />
          {t(m.importance > 1 ? "thread.row.very" : "thread.row.relevant")}
        </span>
      )}
      <span className={styles.state} aria-hidden="true">
        <Icon name={icon} size={12} />
        {check === null ? word : t("thread.row.state", { word, check: t(check.word) })}
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
        <ul className={styles.refs} aria-label={t("thread.row.refs")}>
          {m.refs.slice(0, shownRefs).map((ref) => (
            <li key={ref.position}>
              <Icon name="ref" size={12} />
              <RefLink refTo={ref} />
            </li>
          ))}
          {m.refs.length > shownRefs && <li>{t("thread.row.moreRefs", { n: m.refs.length - shownRefs })}</li>}
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
  const kind = t(`thread.ref.${type}`);
  if (target?.__typename === "Record") {
    return (
      <Link href={`/records?record=${hash}`}>
        {kind}: <bdi>{target.title}</bdi>
      </Link>
    );
  }
  return (
    <span>
      <T id="thread.row.absent" values={{ hash: <code>{short(hash)}</code> }} />
    </span>
  );
}

function Wrong({ state }: { state: LinkState }) {
  if (state.kind !== "mismatch") return null;
  return (
    <ul className={styles.wrong}>
      {state.findings.map((f) => (
        <li key={keyOf(f)}>
          <Icon name="broken" size={14} />
          <span>
            <T id="thread.row.browser" values={{ detail: say(f.detail) }} />
          </span>
        </li>
      ))}
      {state.server.map((b) => (
        <li key={`${b.reason} ${b.sequence} ${b.detail}`}>
          <Icon name="broken" size={14} />
          <span>
            <T id="thread.row.server" values={{ detail: b.detail }} />
          </span>
        </li>
      ))}
    </ul>
  );
}
