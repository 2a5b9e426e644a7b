import { type SubmitEvent, useId, useState } from "react";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { PageHead } from "../../ui/PageHead";
import { useAddress } from "../../ui/useAddress";
import { t } from "../../words";
import { Errors } from "./Errors";
import styles from "./Events.module.css";
import { OneThread } from "./OneThread";
import { Threads } from "./Threads";

/**
 * What programs told as events: the threads of an agent with a user, and of one of them every event with its errors, or
 * what a prompt would be given. Without an agent and a user, the newest errors of all. The address holds all of it.
 */
export default function EventsPage() {
  useTitle(t("events.title"));
  const [params, set] = useAddress();
  const agent = params.get("agent") ?? "";
  const user = params.get("user") ?? "";
  const thread = params.get("thread");
  const who = { agent, user };
  if (agent && user && thread !== null)
    return <OneThread key={`${agent} ${user} ${thread}`} who={who} thread={thread} params={params} set={set} />;
  return (
    <>
      <PageHead title={t("events.title")} note={t("events.note")} />
      <Who
        key={`${agent} ${user}`}
        who={who}
        onWho={(w) => set({ agent: w.agent || null, user: w.user || null, thread: null })}
      />
      {agent && user ? <Threads who={who} /> : <Errors />}
    </>
  );
}

/** An agent and a user, as events call them. */
export type Pair = { agent: string; user: string };

function Who({ who, onWho }: { who: Pair; onWho: (who: Pair) => void }) {
  const [typed, setTyped] = useState(who);
  const id = useId();
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onWho({ agent: typed.agent.trim(), user: typed.user.trim() });
  };
  return (
    <search>
      <form className={styles.who} onSubmit={submit}>
        {(["agent", "user"] as const).map((name) => (
          <span key={name} className={styles.field}>
            <label htmlFor={id + name}>{t(`events.${name}`)}</label>
            <input
              id={id + name}
              value={typed[name]}
              autoComplete="off"
              spellCheck={false}
              onChange={(e) => setTyped({ ...typed, [name]: e.target.value })}
            />
          </span>
        ))}
        <Button type="submit" icon="search">
          {t("events.show")}
        </Button>
      </form>
    </search>
  );
}
