import { Link } from "wouter";
import { nameOf, plural } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { Time } from "../../ui/Time";
import { Section } from "./Panel";
import styles from "./Panel.module.css";
import type { WholeMessage } from "./query";

/** What a message was sent with, in order, and what was later sent with it. */
export function Refs({ message: m }: { message: WholeMessage }) {
  const cited = m.citedBy.edges.map((e) => e.node);
  return (
    <>
      <Section title={`Sent with ${plural(m.sentWith.length, "ref")}`}>
        {m.sentWith.length > 0 && (
          <ol className={styles.refs}>
            {m.sentWith.map((ref) => (
              <li key={ref.position}>
                <Target refTo={ref} />
              </li>
            ))}
          </ol>
        )}
      </Section>
      <Section
        title={`Cited by ${plural(cited.length, "message")}${m.citedBy.pageInfo.hasNextPage ? " and more" : ""}`}
      >
        {cited.length > 0 && (
          <ol className={styles.refs}>
            {cited.map((c) => (
              <li key={c.hash}>
                <MessageLine message={c} />
              </li>
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}

function Target({ refTo: { position, type, hash, target } }: { refTo: WholeMessage["sentWith"][number] }) {
  if (target?.__typename === "Message") return <MessageLine message={target} position={position} />;
  const kind = type === "ACCOUNTANT" ? "Ledger" : type === "SECRETARY" ? "Secretary" : "Message";
  if (target?.__typename === "Record") {
    return (
      <Link href={`/records?record=${hash}`} className={styles.ref}>
        <span>
          <Icon name="records" size={14} /> {position}. {kind}: {target.book}
        </span>
        <bdi>{target.title}</bdi>
      </Link>
    );
  }
  return (
    <span className={styles.ref}>
      {position}. {kind}, not in this log <ShortHash hash={hash} />
    </span>
  );
}

type Line = WholeMessage["citedBy"]["edges"][number]["node"];

function MessageLine({ message: m, position }: { message: Line; position?: number }) {
  return (
    <Link href={`/messages/${m.hash}`} className={styles.ref}>
      <span>
        <Icon name="threads" size={14} /> {position && `${position}. `}#{m.sequence} <bdi>{nameOf(m.owner)}</bdi>,{" "}
        <Time at={m.createdAt} />
      </span>
      <span className={styles.snippet} dir="auto">
        {m.content ?? <i>content erased</i>}
      </span>
    </Link>
  );
}
