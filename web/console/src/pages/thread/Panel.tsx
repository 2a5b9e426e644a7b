import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { checkMessage } from "../../chain/check";
import { IconButton } from "../../ui/Button";
import { dateTime, nameOf } from "../../ui/format";
import { Copy, FullHash, ShortHash } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { isEmptyJson, Json } from "../../ui/Json";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Avatar, Chip, PlayerName, type Thing } from "../../ui/Things";
import styles from "./Panel.module.css";
import { MessageQuery, type WholeMessage } from "./query";
import { Refs } from "./Refs";

/** Everything of one message, beside the conversation. */
export function Panel({ hash, onClose }: { hash: string; onClose: () => void }) {
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
  return (
    <aside ref={panel} className={styles.panel} aria-label="Message" data-panel tabIndex={-1}>
      <header className={styles.head}>
        <h2>{message ? `Message #${message.sequence}` : "Message"}</h2>
        <ShortHash hash={hash} />
        <IconButton icon="close" label="Close the message (Esc)" onClick={onClose} />
      </header>
      {message ? (
        <Body message={message} />
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

function Body({ message: m }: { message: WholeMessage }) {
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
      <div className={m.content === null ? styles.erased : styles.content} dir="auto">
        {m.content ?? "The content was erased, on the record. The chain still holds its digest."}
      </div>
      <Integrity message={m} />
      <Section title="Fields">
        <Fields message={m} />
      </Section>
      <Refs message={m} />
      <Extra title="Attachments" value={m.attachments} />
      <Extra title="Ambient" value={m.ambient} />
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

const states: Record<string, string> = {
  CHAINED: "Chained: part of its session’s hash chain, not yet sealed",
  SEALED: "Sealed: the server says a signed checkpoint covers it",
  WITNESSED: "Witnessed: the server says a witness cosigned it",
  ERASED: "Content erased, on the record",
};

function Integrity({ message: m }: { message: WholeMessage }) {
  const { findings, erased } = useMemo(() => checkMessage(m), [m]);
  const good = findings.length === 0;
  return (
    <Section title="Integrity">
      <p>{states[m.integrity.state]}</p>
      <p className={good ? styles.good : styles.bad}>
        <Icon name={good ? "check" : "broken"} />
        {good
          ? `Recomputed in this browser: hash and fields${erased ? "" : ", content"} and refs match. Its link is checked with the chain.`
          : "MISMATCH, computed in this browser"}
      </p>
      {findings.map((f) => (
        <dl key={f.kind + f.detail} className={styles.finding}>
          <dt>{f.detail}</dt>
          {f.computed && <dd>computed {f.computed}</dd>}
          {f.stated && <dd>stated {f.stated}</dd>}
        </dl>
      ))}
      <FullHash hash={m.hash} />
      <p className={styles.copies}>
        <Copy text={m.integrity.preimage} label="Copy the bytes that it covers (base64)" />
        {m.integrity.contentPreimage && <Copy text={m.integrity.contentPreimage} label="Copy the content’s bytes" />}
      </p>
    </Section>
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
