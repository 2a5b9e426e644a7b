import type { ReactNode } from "react";
import { Link } from "wouter";
import { Erased } from "../ui/Erased";
import { nameOf, short } from "../ui/format";
import { Icon } from "../ui/icons";
import { Time } from "../ui/Time";
import { t } from "../words";
import { mark } from "./marks";
import type { Source } from "./query";
import styles from "./Source.module.css";

type Of = { hash: string; source: Source | undefined | null };
type Message = Extract<Source, { __typename: "Message" }>;
type Record = Extract<Source, { __typename: "Record" }>;

/** A message or record as far as a link names it. */
type Named =
  | Pick<Message, "__typename" | "sequence" | "owner">
  | Pick<Record, "__typename" | "kind" | "book" | "title">;

/** Leads to a message or record; one whose source may not be read has its hash for a name. */
export function SourceLink({ hash, source }: { hash: string; source: Named | undefined | null }) {
  if (!source) return <code title={hash}>{short(hash)}</code>;
  if (source.__typename === "Record") {
    return (
      <Link href={`/records?record=${hash}`}>
        {t(source.kind === "ACCOUNTANT" ? "selection.source.ledger" : "selection.source.secretary", {
          book: source.book,
          title: source.title,
        })}
      </Link>
    );
  }
  return (
    <Link href={`/messages/${hash}`}>
      <bdi>{nameOf(source.owner)}</bdi> #{source.sequence}
    </Link>
  );
}

/** What a message or record is, on a line: who and when. children stand at its end. */
export function SourceHead({ hash, source, children }: Of & { children?: ReactNode }) {
  const message = source?.__typename === "Message" ? source : null;
  return (
    <p className={styles.head}>
      <Icon name={source?.__typename === "Record" ? "records" : "threads"} size={14} />
      <SourceLink hash={hash} source={source} />
      {message && <Time at={message.createdAt} />}
      {message?.quarantined && (
        <span className={styles.quarantined} title={t("selection.source.quarantined.title")}>
          <Icon name="quarantine" size={12} />
          {t("selection.source.quarantined")}
        </span>
      )}
      {children}
    </p>
  );
}

/** What it says, with the terms marked. Text only: what models wrote is never drawn as anything else. */
export function SourceText({ source, terms }: { source: Source | undefined | null; terms: readonly string[] }) {
  if (!source) return <span className={styles.untold}>{t("selection.source.unread")}</span>;
  if (source.__typename === "Record") return <Marked text={source.text} terms={terms} />;
  if (source.content === null) return <Erased by={source.integrity.erasure?.hash} />;
  return <Marked text={source.content} terms={terms} />;
}

function Marked({ text, terms }: { text: string; terms: readonly string[] }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in its order
  return mark(text, terms).map((p, i) => (p.marked ? <mark key={i}>{p.text}</mark> : p.text));
}
