import { useState } from "react";
import { useClient } from "urql";
import { Link, useLocation } from "wouter";
import { useAction } from "../../actions/useAction";
import { words } from "../../api/errors";
import { ask } from "../../api/query";
import { Button, tipOf } from "../../ui/Button";
import { nameOf } from "../../ui/format";
import { ShortHash } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { Time } from "../../ui/Time";
import { t } from "../../words";
import { Section } from "./Panel";
import styles from "./Panel.module.css";
import { CitedQuery, type WholeMessage } from "./query";

const types = ["CONTEXT", "ACCOUNTANT", "SECRETARY"] as const;

/** What a message was sent with, by type and in order, and what was later sent with it. */
export function Refs({ message: m }: { message: WholeMessage }) {
  const [, navigate] = useLocation();
  const all = `/messages/${m.hash}/references`;
  useAction("message.references", () => navigate(all));
  return (
    <>
      <Section title={t("thread.refs", { n: m.sentWith.length })}>
        {types.map((type) => {
          const of = m.sentWith.filter((ref) => ref.type === type);
          if (of.length === 0) return null;
          return (
            <div key={type} className={styles.ofType}>
              <h4>{t(`thread.refs.${type}`, { n: of.length })}</h4>
              <ol className={styles.refs}>
                {of.map((ref) => (
                  <li key={ref.position}>
                    <Target refTo={ref} />
                  </li>
                ))}
              </ol>
            </div>
          );
        })}
      </Section>
      <Cited message={m} />
      <p>
        <Link href={all} {...tipOf("message.references", t("thread.refs.all"))}>
          {t("thread.refs.all")}
        </Link>
      </p>
    </>
  );
}

function Cited({ message: { hash, citedBy } }: { message: WholeMessage }) {
  const client = useClient();
  const [more, setMore] = useState<(typeof citedBy)[]>([]);
  const [problem, setProblem] = useState("");
  const pages = [citedBy, ...more];
  const cited = pages.flatMap((p) => p.edges.map((e) => e.node));
  const { hasNextPage, endCursor } = (pages.at(-1) ?? citedBy).pageInfo;
  const load = async () => {
    try {
      const { message } = await ask(client, CitedQuery, { hash, after: endCursor });
      if (message) setMore([...more, message.citedBy]);
      setProblem("");
    } catch (error) {
      setProblem(words(error));
    }
  };
  return (
    <Section title={t(hasNextPage ? "thread.cited.more" : "thread.cited", { n: cited.length })}>
      {cited.length > 0 && (
        <ol className={styles.refs}>
          {cited.map((c) => (
            <li key={c.hash}>
              <MessageLine message={c} />
            </li>
          ))}
        </ol>
      )}
      {problem !== "" && <p role="alert">{problem}</p>}
      {hasNextPage && <Button onClick={() => void load()}>{t("thread.cited.next")}</Button>}
    </Section>
  );
}

function Target({ refTo: { position, type, hash, target } }: { refTo: WholeMessage["sentWith"][number] }) {
  if (target?.__typename === "Message") return <MessageLine message={target} position={position} />;
  const kind = t(`thread.ref.${type}`);
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
      {t("thread.ref.absent", { position, kind })} <ShortHash hash={hash} />
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
        {m.content?.slice(0, 400) ?? <i>{t("thread.erasedContent")}</i>}
      </span>
    </Link>
  );
}
