import type { ReactNode } from "react";
import { Link } from "wouter";
import { Chip, PlayerName, type Thing } from "../../ui/Things";
import { type Id, t } from "../../words";
import styles from "./Panel.module.css";
import type { MessageRow, WholeMessage } from "./query";

const importances = ["thread.importance.0", "thread.importance.1", "thread.importance.2"] as const;

/** Every field of a message by name; what it names is a link to it. */
export function Fields({ message: m }: { message: MessageRow | WholeMessage }) {
  const importance = importances[m.importance];
  const rows: [Id, ReactNode][] = [
    ["thread.field.sequence", t("thread.field.sequence.of", { n: String(m.sequence) })],
    ["thread.field.session", <HashLink key="s" to="sessions" hash={m.session.hash} />],
    ["thread.field.thread", m.thread && <HashLink key="t" to="threads" hash={m.thread.hash} />],
    [
      "thread.field.previous",
      m.prevHash ? <HashLink key="p" to="messages" hash={m.prevHash} /> : t("thread.field.previous.none"),
    ],
    ["thread.field.from", <PlayerName key="f" player={m.owner} link />],
    ["thread.field.to", m.players.length > 0 && <People key="to" players={m.players} />],
    ["thread.field.coordinator", m.masterPlayer && <PlayerName key="m" player={m.masterPlayer} link />],
    ["thread.field.role", m.role],
    ["thread.field.event", m.eventType.toLowerCase()],
    ["thread.field.importance", importance ? t(importance) : String(m.importance)],
    ["thread.field.channel", m.channel],
    ["thread.field.source", m.source],
    ["thread.field.mainItem", things([m.masterItem])],
    ["thread.field.items", things(m.items)],
    ["thread.field.place", things([m.location])],
    ["thread.field.flag", things([m.flag])],
    ["thread.field.tags", things(m.hashtags)],
    ["thread.field.sent", <code key="c">{m.createdAt}</code>],
  ];
  return (
    <dl className={styles.fields}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{t(name)}</dt>
          <dd>{value || <span className={styles.none}>{t("thread.field.none")}</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

function things(list: readonly (Thing | null)[]): ReactNode {
  const there = list.filter((thing) => thing !== null);
  if (there.length === 0) return null;
  return (
    <span className={styles.chips}>
      {there.map((thing, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message never changes, and may name a thing twice
        <Chip key={i} thing={thing} link />
      ))}
    </span>
  );
}

function People({ players }: { players: readonly Thing[] }) {
  return players.map((p, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a message never changes, and may name a player twice
    <span key={i}>
      {i > 0 && ", "}
      <PlayerName player={p} link />
    </span>
  ));
}

function HashLink({ to, hash }: { to: "sessions" | "threads" | "messages"; hash: string }) {
  return (
    <Link href={`/${to}/${hash}`}>
      <code title={hash}>{hash.slice(0, 16)}…</code>
    </Link>
  );
}
