import { type ReactNode, useEffect, useRef } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { has, mayErase } from "../../api/rights";
import { useSession } from "../../api/session";
import { IconButton } from "../../ui/Button";
import { Erased } from "../../ui/Erased";
import { dateTime, nameOf } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { isEmptyJson, Json } from "../../ui/Json";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Avatar, Chip, PlayerName, type Thing } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { Erase } from "./Erase";
import { Integrity } from "./Integrity";
import type { LinkState } from "./link";
import styles from "./Panel.module.css";
import { Quarantine } from "./Quarantine";
import { MessageQuery, type WholeMessage } from "./query";
import { Refs } from "./Refs";

type Props = {
  hash: string;
  /** What a check of the conversation found of the message; null if it is not in the list that was checked. */
  state: LinkState | null;
  onClose: () => void;
  /** Called once the message is not what it was: erased, put into quarantine or released. */
  onChanged: () => void;
};

/** Everything of one message, beside the conversation. */
export function Panel({ hash, state, onClose, onChanged }: Props) {
  const [{ data, error, fetching }, again] = useQuery({
    query: MessageQuery,
    variables: { hash },
    requestPolicy: "network-only",
  });
  const panel = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another message begins at its top
  useEffect(() => {
    panel.current?.scrollTo(0, 0);
  }, [hash]);
  const message = data?.message?.hash === hash ? data.message : null;
  const changed = () => {
    panel.current?.focus(); // the button that had it is gone
    again({ requestPolicy: "network-only" });
    onChanged();
  };
  return (
    <aside ref={panel} className={styles.panel} aria-label="Message" data-panel tabIndex={-1}>
      <header className={styles.head}>
        <h2>{message ? `Message #${message.sequence}` : "Message"}</h2>
        <ShortHash hash={hash} />
        <IconButton icon="close" label="Close the message (Esc)" onClick={onClose} />
      </header>
      {message ? (
        <Body message={message} state={state} onChanged={changed} />
      ) : error ? (
        <ErrorScreen error={error} retry={() => again({ requestPolicy: "network-only" })} />
      ) : fetching || data?.message ? (
        <Loading what="the message" />
      ) : (
        <Screen icon="search" title="No message has this hash">
          The link may be older than the log it leads to, or it was cut short.
        </Screen>
      )}
    </aside>
  );
}

function Body({ message: m, state, onChanged }: Pick<Props, "state" | "onChanged"> & { message: WholeMessage }) {
  const { identity } = useSession();
  const erasable = m.content !== null && m.eventType !== "ERASURE";
  return (
    <div className={styles.body}>
      <p className={styles.from}>
        <Avatar of={m.owner} />
        <span>
          <b>
            <PlayerName player={m.owner} />
          </b>
          <br />
          <time dateTime={m.createdAt} title={m.createdAt}>
            {dateTime(m.createdAt)}
          </time>
        </span>
      </p>
      {m.content === null ? (
        <Gone message={m} />
      ) : (
        <div className={styles.content} dir="auto">
          {m.content}
        </div>
      )}
      {m.quarantined && <Quarantine message={m} onChanged={onChanged} />}
      <Integrity message={m} state={state} />
      <Section title="Fields">
        <Fields message={m} />
      </Section>
      <Refs message={m} />
      <Extra title="Attachments" value={m.attachments} />
      <Extra title="Ambient" value={m.ambient} />
      {!m.quarantined && <Quarantine message={m} onChanged={onChanged} />}
      {erasable && mayErase(identity, m.owner.hash) && (
        <Erase hash={m.hash} sequence={m.sequence} onErased={onChanged} />
      )}
      {erasable && has(identity, "erase") && !mayErase(identity, m.owner.hash) && (
        <p className={styles.none}>You may erase what you sent yourself; this, its sender or an administrator may.</p>
      )}
    </div>
  );
}

// Who erased the content, when and why, as the message that records it says.
function Gone({ message: m }: { message: WholeMessage }) {
  const by = m.recorded.erasure;
  return (
    <div className={styles.gone}>
      <Erased by={by?.hash} />
      {by && (
        <dl className={styles.fields}>
          <div>
            <dt>Erased by</dt>
            <dd>
              <PlayerName player={by.owner} />
            </dd>
          </div>
          <div>
            <dt>On</dt>
            <dd>
              <Time at={by.createdAt} />
            </dd>
          </div>
          <div>
            <dt>Why</dt>
            <dd dir="auto">{by.content}</dd>
          </div>
        </dl>
      )}
      <p>The chain and every proof hold without it: they cover its digest.</p>
    </div>
  );
}

/** A part of the panel under its own title. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Fields({ message: m }: { message: WholeMessage }) {
  const things = (list: readonly (Thing | null)[]) => {
    const there = list.filter((t) => t !== null);
    if (there.length === 0) return null;
    return (
      <span className={styles.chips}>
        {there.map((t) => (
          <Chip key={t.hash} thing={t} />
        ))}
      </span>
    );
  };
  const rows: [string, ReactNode][] = [
    ["Sequence", `#${m.sequence} of its session`],
    ["Session", <HashLink key="s" to="sessions" hash={m.session.hash} />],
    ["Thread", m.thread && <HashLink key="t" to="threads" hash={m.thread.hash} />],
    ["Previous", m.prevHash ? <HashLink key="p" to="messages" hash={m.prevHash} /> : "none: the first of its session"],
    ["From", <PlayerName key="f" player={m.owner} />],
    ["To", m.players.length > 0 && m.players.map(nameOf).join(", ")],
    ["Coordinator", m.masterPlayer && <PlayerName key="m" player={m.masterPlayer} />],
    ["Role", m.role],
    ["Event", m.eventType.toLowerCase()],
    ["Importance", ["0, normal", "1, relevant", "2, very relevant"][m.importance] ?? String(m.importance)],
    ["Channel", m.channel],
    ["Source", m.source],
    ["Main item", things([m.masterItem])],
    ["Items", things(m.items)],
    ["Place", things([m.location])],
    ["Flag", things([m.flag])],
    ["Tags", things(m.hashtags)],
    ["Sent", <code key="c">{m.createdAt}</code>],
  ];
  return (
    <dl className={styles.fields}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value || <span className={styles.none}>none</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

function HashLink({ to, hash }: { to: "sessions" | "threads" | "messages"; hash: string }) {
  return (
    <Link href={`/${to}/${hash}`}>
      <code title={hash}>{hash.slice(0, 16)}…</code>
    </Link>
  );
}

function Extra({ title, value }: { title: string; value: unknown }) {
  if (isEmptyJson(value)) return null;
  return (
    <Section title={title}>
      <Json value={value} label={title} />
    </Section>
  );
}
