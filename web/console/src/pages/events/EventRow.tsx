import type { ReactNode } from "react";
import { Link } from "wouter";
import { Erased } from "../../ui/Erased";
import { Icon, type IconName } from "../../ui/icons";
import { Json } from "../../ui/Json";
import { Chip, PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { type Id, T, t } from "../../words";
import styles from "./EventRow.module.css";
import { payloadOf } from "./payload";
import type { Event } from "./query";

const types: Record<string, { icon: IconName; word: Id }> = {
  ERROR: { icon: "error", word: "thread.type.ERROR" },
  SYSTEM: { icon: "server", word: "thread.type.SYSTEM" },
  TOOL: { icon: "tool", word: "thread.type.TOOL" },
  ERASURE: { icon: "erased", word: "thread.type.ERASURE" },
};
const shown = 2_000; // characters of a content: its message has all of it

/** An event: what it is, in words too, what it says, and what came with it. more stands at its end. */
export function EventRow({ event: e, more }: { event: Event; more?: ReactNode }) {
  const type = types[e.eventType];
  return (
    <article className={styles.event} data-type={e.eventType} data-kept={e.keptForImportance}>
      <header className={styles.head}>
        {type && (
          <span className={e.eventType === "ERROR" ? styles.error : styles.type}>
            <Icon name={type.icon} size={12} />
            {t(type.word)}
          </span>
        )}
        <b>
          <PlayerName player={e.owner} link />
        </b>
        {e.role && <span className={styles.type}>{e.role}</span>}
        {e.importance > 0 && (
          <span className={styles.important}>
            <Icon name="important" size={12} />
            {t(e.importance > 1 ? "thread.row.very" : "thread.row.relevant")}
          </span>
        )}
        {e.keptForImportance && (
          <span className={styles.kept}>
            <Icon name="flag" size={12} />
            {t("events.kept")}
          </span>
        )}
        {e.quarantined && (
          <span className={styles.error}>
            <Icon name="quarantine" size={12} />
            {t("thread.row.quarantined")}
          </span>
        )}
        <Time at={e.createdAt} />
        <Link href={`/messages/${e.hash}`}>{t("events.message", { n: e.sequence })}</Link>
      </header>
      {e.content === null ? (
        <Erased by={e.integrity.erasure?.hash} />
      ) : (
        <p className={styles.content} dir="auto">
          {e.content.slice(0, shown)}
          {e.content.length > shown && "…"}
        </p>
      )}
      <Payload of={e.attachments} />
      <footer className={styles.foot}>
        {e.hashtags.map((tag) => (
          <Chip key={tag.hash} thing={tag} />
        ))}
        {(e.source ?? e.channel) && (
          <span>
            {e.channel === null || e.source === null ? (
              (e.source ?? e.channel)
            ) : (
              <T id="events.from" values={{ source: <bdi>{e.source}</bdi>, channel: <bdi>{e.channel}</bdi> }} />
            )}
          </span>
        )}
        {more}
      </footer>
    </article>
  );
}

function Payload({ of }: { of: unknown }) {
  const { plain, more } = payloadOf(of);
  return (
    <>
      {plain.length > 0 && (
        <dl className={styles.payload} aria-label={t("events.payload")}>
          {plain.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {more && (
        <details className={styles.whole}>
          <summary>{t("events.payload.whole")}</summary>
          <Json value={of} label={t("events.payload")} />
        </details>
      )}
    </>
  );
}
