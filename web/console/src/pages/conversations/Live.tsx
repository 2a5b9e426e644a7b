import { type SubmitEvent, useId, useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import type { Pages } from "../../api/pages";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { count } from "../../ui/format";
import { List } from "../../ui/List";
import { PageHead } from "../../ui/PageHead";
import { Screen } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { Take } from "../../ui/take/Take";
import { T, t } from "../../words";
import styles from "./Conversations.module.css";
import { Countdown } from "./Countdown";
import { conversationColumns } from "./columns";
import { type ConversationRow, ConversationsQuery } from "./query";

/** How many the server lists of a user, the latest. */
const mostListed = 1000;

const roles = ["CLIENT", "ADMIN"] as const;
type Role = (typeof roles)[number];

/** Which assistant the address names: that for clients unless it says otherwise. */
const roleIn = (params: URLSearchParams): Role => (params.get("role") === "admin" ? "ADMIN" : "CLIENT");

type Props = { params: URLSearchParams; set: (change: Record<string, string | null>) => void };

/** The conversations of a user that are in memory now, the latest first. */
export function Live({ params, set }: Props) {
  const role = roleIn(params);
  const user = params.get("user") ?? "";
  return (
    <>
      <PageHead title={t("conversations.title")} note={t("conversations.note")}>
        {user && <Taken role={role} user={user} />}
      </PageHead>
      <Who
        key={user}
        role={role}
        user={user}
        onRole={(r) => set({ role: r === "ADMIN" ? "admin" : null })}
        onUser={(u) => set({ user: u || null })}
      />
      {user ? <Found key={`${role} ${user}`} role={role} user={user} /> : <Help />}
    </>
  );
}

const useLive = (role: Role, userId: string) => useQuery({ query: ConversationsQuery, variables: { role, userId } });

function Taken({ role, user }: { role: Role; user: string }) {
  const [{ data }] = useLive(role, user);
  return (
    <Take
      name={t("conversations.title")}
      file="conversations"
      columns={conversationColumns()}
      rows={data?.conversations ?? []}
      request={{ query: ConversationsQuery, variables: { role, userId: user } }}
    />
  );
}

type WhoProps = { role: Role; user: string; onRole: (role: Role) => void; onUser: (user: string) => void };

function Who({ role, user, onRole, onUser }: WhoProps) {
  const [typed, setTyped] = useState(user);
  const id = useId();
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onUser(typed.trim());
  };
  return (
    <search>
      <form className={styles.who} onSubmit={submit}>
        <Choice
          label={t("conversations.assistant")}
          value={role}
          options={roles.map((value) => ({ value, word: t(`conversations.with.${value}`) }))}
          onChoose={onRole}
        />
        <label htmlFor={id}>{t("conversations.user")}</label>
        <input id={id} value={typed} autoComplete="off" spellCheck={false} onChange={(e) => setTyped(e.target.value)} />
        <Button type="submit" icon="search">
          {t("conversations.show")}
        </Button>
      </form>
    </search>
  );
}

function Found({ role, user }: { role: Role; user: string }) {
  const [{ data, error, fetching }, refresh] = useLive(role, user);
  const again = () => refresh();
  const items = data?.conversations ?? [];
  const pages: Pages<ConversationRow> = {
    items,
    totalCount: items.length,
    loading: fetching,
    error: error ?? null,
    hasMore: false,
    more: async () => items,
    reload: again,
    fetchPage: async () => ({ items, endCursor: null, hasNextPage: false }),
  };
  return (
    <>
      {items.length >= mostListed && (
        <p role="status" className={styles.cut}>
          {t("conversations.cut", { most: count(mostListed) })}
        </p>
      )}
      <List
        pages={pages}
        what="conversations"
        keyOf={(c) => c.id}
        estimate={70}
        row={(c) => <Row of={c} onEnd={again} />}
        empty={
          <Screen icon="empty" title={t("conversations.none")}>
            {t("conversations.none.detail")}
          </Screen>
        }
      />
    </>
  );
}

function Row({ of: c, onEnd }: { of: ConversationRow; onEnd: () => void }) {
  return (
    <article className={styles.row}>
      <Link href={`/conversations?id=${encodeURIComponent(c.id)}`} className={styles.name}>
        <T id="conversations.last" values={{ when: <Time at={c.lastActivity} /> }} />
      </Link>
      <span className={styles.facts}>
        <T id="conversations.since" values={{ when: <Time at={c.createdAt} /> }} />
        {", "}
        {c.turns === 0 ? t("conversations.unsaid") : t("conversations.turns", { n: c.turns })}
      </span>
      <Countdown key={c.expiresAt} until={c.expiresAt} onEnd={onEnd} />
    </article>
  );
}

const example = `mutation {
  startConversation(role: CLIENT, userId: "42") { id expiresAt }
}`;

function Help() {
  return (
    <Screen icon="conversations" title={t("conversations.help")}>
      <div className={styles.help}>
        <p>{t("conversations.help.what")}</p>
        <p>{t("conversations.help.how", { most: count(10) })}</p>
        <pre>{example}</pre>
      </div>
    </Screen>
  );
}
