import { useQuery } from "urql";
import { Link } from "wouter";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { auditSession } from "../../app/places";
import type { Subject } from "../../chain/verify";
import { date, join, nameOf, short } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/PageHead";
import { t } from "../../words";
import { SessionHead, ThreadHead } from "./query";
import styles from "./ThreadPage.module.css";

type Props = {
  subject: Subject;
  /** How many messages the filter leaves; null if there is none. */
  shown: number | null;
};

/** Names the thread or session: who takes part, how much, from when to when. */
export function Head({ subject: { kind, hash }, shown }: Props) {
  return kind === "thread" ? <OfThread hash={hash} shown={shown} /> : <OfSession hash={hash} shown={shown} />;
}

type OfProps = Pick<Props, "shown"> & { hash: string };

function OfThread({ hash, shown }: OfProps) {
  const [{ data }] = useQuery({ query: ThreadHead, variables: { hash } });
  const { identity } = useSession();
  const of = data?.thread;
  return (
    <PageHead
      title={of ? join(of.players.map(nameOf), 4) : t("thread.thread")}
      note={of && <Span n={of.messageCount} shown={shown} from={of.startedAt} to={of.lastMessageAt} />}
    >
      {has(identity, "context:select") && (
        <Link href={`/context?thread=${hash}`} className={styles.action}>
          <Icon name="context" />
          {t("thread.ask")}
        </Link>
      )}
      <Copy text={hash} label={t("thread.copy.thread", { hash: short(hash) })} />
    </PageHead>
  );
}

function OfSession({ hash, shown }: OfProps) {
  const [{ data }] = useQuery({ query: SessionHead, variables: { hash } });
  const { identity } = useSession();
  const s = data?.session;
  return (
    <PageHead
      title={
        hash === auditSession(identity.player) ? t("thread.audit") : t("thread.copy.session", { hash: short(hash) })
      }
      note={s && <Span n={s.length} shown={shown} from={s.startedAt} to={s.lastMessageAt} />}
    >
      <Copy text={hash} label={t("thread.copy.session", { hash: short(hash) })} />
    </PageHead>
  );
}

function Span({ n, shown, from, to }: { n: number; shown: number | null; from: string; to: string }) {
  const first = date(from);
  const last = date(to);
  const days = first === last ? first : t("thread.days", { first, last });
  return <>{shown === null ? t("thread.span", { n, days }) : t("thread.span.shown", { shown, n, days })}</>;
}
