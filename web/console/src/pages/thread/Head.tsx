import { useQuery } from "urql";
import { Link } from "wouter";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { auditSession } from "../../app/places";
import type { Subject } from "../../chain/verify";
import { date, join, nameOf, plural, short } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/PageHead";
import { SessionHead, ThreadHead } from "./query";
import styles from "./ThreadPage.module.css";

/** Names the thread or session: who takes part, how much, from when to when. */
export function Head({ subject: { kind, hash } }: { subject: Subject }) {
  return kind === "thread" ? <OfThread hash={hash} /> : <OfSession hash={hash} />;
}

function OfThread({ hash }: { hash: string }) {
  const [{ data }] = useQuery({ query: ThreadHead, variables: { hash } });
  const { identity } = useSession();
  const t = data?.thread;
  return (
    <PageHead
      title={t ? join(t.players.map(nameOf), 4) : "Thread"}
      note={t && <Span n={t.messageCount} from={t.startedAt} to={t.lastMessageAt} />}
    >
      {has(identity, "context:select") && (
        <Link href={`/context?thread=${hash}`} className={styles.action}>
          <Icon name="context" />
          Ask within this thread
        </Link>
      )}
      <Copy text={hash} label={`Thread ${short(hash)}`} />
    </PageHead>
  );
}

function OfSession({ hash }: { hash: string }) {
  const [{ data }] = useQuery({ query: SessionHead, variables: { hash } });
  const { identity } = useSession();
  const s = data?.session;
  return (
    <PageHead
      title={hash === auditSession(identity.player) ? "What you did as administrator" : `Session ${short(hash)}`}
      note={s && <Span n={s.length} from={s.startedAt} to={s.lastMessageAt} />}
    >
      <Copy text={hash} label={`Session ${short(hash)}`} />
    </PageHead>
  );
}

function Span({ n, from, to }: { n: number; from: string; to: string }) {
  const first = date(from);
  const last = date(to);
  return (
    <>
      {plural(n, "message")}, {first === last ? first : `${first} to ${last}`}
    </>
  );
}
