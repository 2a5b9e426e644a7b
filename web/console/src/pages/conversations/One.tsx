import { type ReactNode, useMemo } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { useAction } from "../../actions/useAction";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { sha256 } from "../../chain/bytes";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { isEmptyJson, Json } from "../../ui/Json";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { Why } from "../../ui/Why";
import { T, t } from "../../words";
import styles from "./Conversations.module.css";
import { Countdown } from "./Countdown";
import { Delete } from "./Delete";
import { EraseSaid } from "./EraseSaid";
import { Prompt } from "./Prompt";
import { ConversationQuery, HeldQuery, LoggedQuery, type Memory } from "./query";

type Props = { id: string; onFresh: (id: string) => void };

/** A conversation with all that is in its memory now, and what a model would be asked next. */
export function One({ id, onFresh }: Props) {
  const [{ data, error, fetching }, refresh] = useQuery({
    query: ConversationQuery,
    variables: { id },
  });
  const again = () => refresh();
  useAction("conversation.reload", again, { enabled: !fetching });
  const memory = data?.conversation ?? null;
  const gone = !memory && !error && !fetching; // the log may still hold it
  const session = useMemo(() => sha256(new TextEncoder().encode(id)), [id]); // by what a session's hash is
  const [{ data: logged, error: unread }, readLog] = useQuery({
    query: LoggedQuery,
    variables: { session },
    pause: !gone,
  });
  const [role = "", user = ""] = id.split(":");
  const back = `/conversations?${new URLSearchParams({ ...(role === "admin" && { role }), user })}`;
  return (
    <>
      <PageHead
        title={
          <>
            {t("conversations.of")} <bdi>{user}</bdi>
          </>
        }
        note={memory && <Countdown key={memory.expiresAt} until={memory.expiresAt} onEnd={again} />}
      >
        <Link href={back} className={styles.back}>
          <Icon name="back" />
          {t("conversations.back")}
        </Link>
        <Button icon="retry" action="conversation.reload" disabled={fetching}>
          {t("conversations.again")}
        </Button>
        <Delete id={id} live={memory !== null} onFresh={onFresh} onFailed={again} />
        <EraseSaid
          id={id}
          live={memory !== null}
          logged={memory?.session != null || (gone && logged?.session != null)}
          onFresh={onFresh}
          onChanged={again}
        />
      </PageHead>
      {memory ? (
        <Whole memory={memory} onGone={again} />
      ) : error ? (
        <ErrorScreen error={error} retry={again} />
      ) : unread ? (
        <ErrorScreen error={unread} retry={() => readLog()} />
      ) : fetching || !logged ? (
        <Loading what={t("conversations.loading")} />
      ) : (
        <Gone id={id} session={logged.session} />
      )}
    </>
  );
}

// session: what the log holds of it. Without, nobody can tell one that never was from one that is somebody else's.
function Gone({ id, session }: { id: string; session: { hash: string; length: number } | null }) {
  const { identity } = useSession();
  const [{ data, error }] = useQuery({
    query: HeldQuery,
    variables: { id },
    pause: !session || !has(identity, "erase"),
  });
  return (
    <div role="status">
      {session ? (
        <Screen icon="erased" title={t("conversations.gone")}>
          <p>{t("conversations.gone.detail")}</p>
          <p>
            <T
              id="conversations.gone.log"
              values={{ n: session.length }}
              components={{ link: (inside) => <Link href={`/sessions/${session.hash}`}>{inside}</Link> }}
            />
          </p>
          {data && (
            <p>
              {t("conversations.gone.held", {
                contents: data.eraseImpact.contents,
                erased: data.eraseImpact.erasedBefore,
              })}
            </p>
          )}
          {error && (
            <p>
              <T id="conversations.gone.unread" values={{ why: <Why error={error} /> }} />
            </p>
          )}
        </Screen>
      ) : (
        <Screen icon="search" title={t("conversations.never")}>
          <p>{t("conversations.never.detail")}</p>
        </Screen>
      )}
    </div>
  );
}

function Whole({ memory: c, onGone }: { memory: Memory; onGone: () => void }) {
  const { identity } = useSession();
  const may = has(identity, "log:read") && (identity.role === "admin" || identity.role === "agent");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className={styles.body} tabIndex={0} aria-label={t("conversations.memory")}>
      <Facts memory={c} />
      <div className={styles.part}>
        <h2>{t("conversations.state")}</h2>
        {isEmptyJson(c.state) ? (
          <p className={styles.none}>{t("conversations.state.none")}</p>
        ) : (
          <Json value={c.state} label={t("conversations.state")} />
        )}
      </div>
      <History memory={c} />
      {may && <Prompt memory={c} onGone={onGone} />}
    </section>
  );
}

function Facts({ memory: c }: { memory: Memory }) {
  return (
    <dl className={styles.meta}>
      <Fact name={t("conversations.fact.id")}>
        <code>{c.id}</code> <Copy text={c.id} label={t("ui.copy", { what: t("conversations.fact.id") })} />
      </Fact>
      <Fact name={t("conversations.assistant")}>
        {t(`conversations.with.${c.role}`)}
        {c.assistant && (
          <>
            {": "}
            <PlayerName player={c.assistant} link />
          </>
        )}
      </Fact>
      <Fact name={t("conversations.user")}>{c.user ? <PlayerName player={c.user} link /> : <bdi>{c.userId}</bdi>}</Fact>
      <Fact name={t("conversations.fact.start")}>
        <Time at={c.createdAt} />
      </Fact>
      <Fact name={t("conversations.fact.last")}>
        <Time at={c.lastActivity} />
      </Fact>
      <Fact name={t("table.head.expires")}>
        <Time at={c.expiresAt} />
      </Fact>
      <Fact name={t("conversations.fact.log")}>
        {c.session ? (
          <T
            id="conversations.log"
            values={{ n: c.session.length }}
            components={{
              session: (inside) => <Link href={`/sessions/${c.session?.hash}`}>{inside}</Link>,
              thread: (inside) => <Link href={`/threads/${c.session?.hash}`}>{inside}</Link>,
            }}
          />
        ) : (
          t("conversations.log.none")
        )}
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function History({ memory: c }: { memory: Memory }) {
  return (
    <div className={styles.part}>
      <h2>{t("conversations.history")}</h2>
      <p className={styles.none}>{t("conversations.history.note", { n: c.history.length })}</p>
      <ol className={styles.turns} aria-label={t("conversations.history")}>
        {c.history.map((turn, i) => (
          <li key={turn.message?.hash ?? i} data-role={turn.role}>
            <p className={styles.turn}>
              <b>{t(`conversations.turn.${turn.role}`)}</b>
              <Time at={turn.at} />
              {turn.message && (
                <Link href={`/messages/${turn.message.hash}`}>
                  {t("conversations.turn.message", { n: turn.message.sequence })}
                </Link>
              )}
            </p>
            <p className={styles.said} dir="auto">
              {turn.content}
            </p>
          </li>
        ))}
      </ol>
    </div>
  );
}
