import { type SubmitEvent, useState } from "react";
import { useQuery } from "urql";
import { Button } from "../../ui/Button";
import { Field } from "../../ui/Field";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { t } from "../../words";
import { EventRow } from "./EventRow";
import styles from "./Events.module.css";
import type { Pair } from "./EventsPage";
import { numberOf } from "./payload";
import { ThreadEventsQuery } from "./query";

const most = 200; // messages, both numbers together

type Props = {
  who: Pair;
  thread: string;
  params: URLSearchParams;
  set: (change: Record<string, string | null>) => void;
};

/** What a prompt would be given of a thread: what was said last, and on demand older messages that are important. */
export function Memory({ who: { agent, user }, thread, params, set }: Props) {
  const last = numberOf(params.get("last"), 20, 1, most);
  const keep = numberOf(params.get("keep"), 0, 0, most - last);
  const [{ data, error, fetching }, again] = useQuery({
    query: ThreadEventsQuery,
    variables: { agent, userId: user, threadId: thread, last, keep },
  });
  const events = data?.threadEvents ?? [];
  const kept = events.filter((e) => e.keptForImportance).length;
  return (
    <>
      <Much key={`${last} ${keep}`} last={last} keep={keep} set={set} />
      {error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : fetching ? (
        <Loading what={t("ui.list.messages")} />
      ) : events.length === 0 ? (
        <Screen icon="empty" title={t("events.memory.none")}>
          {t("events.memory.none.detail")}
        </Screen>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
        <section className={styles.box} tabIndex={0} aria-label={t("events.which.memory")}>
          <p className={styles.end}>{t("events.memory.sum", { n: events.length, kept })}</p>
          <ol>
            {events.map((e) => (
              <li key={e.hash}>
                <EventRow event={e} />
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

type MuchProps = { last: number; keep: number; set: Props["set"] };

function Much({ last, keep, set }: MuchProps) {
  const [typed, setTyped] = useState({ last: String(last), keep: String(keep) });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    set({ last: typed.last === "20" ? null : typed.last, keep: typed.keep === "0" ? null : typed.keep });
  };
  return (
    <form className={styles.much} onSubmit={submit}>
      {(["last", "keep"] as const).map((name) => (
        <Field key={name} label={t(`events.memory.${name}`)} hint={t(`events.memory.${name}.hint`)}>
          {(of) => (
            <input
              {...of}
              type="number"
              min={name === "last" ? 1 : 0}
              max={name === "last" ? most : Math.max(0, most - Number(typed.last))}
              value={typed[name]}
              onChange={(e) => setTyped({ ...typed, [name]: e.target.value })}
            />
          )}
        </Field>
      ))}
      <Button type="submit">{t("events.show")}</Button>
    </form>
  );
}
