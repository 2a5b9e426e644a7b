import { useEffect, useState } from "react";
import { type CombinedError, useClient } from "urql";
import { asCombined } from "../../api/errors";
import { ask, pageOf } from "../../api/query";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { t } from "../../words";
import { findIn } from "./find";
import styles from "./Item.module.css";
import { EntriesQuery, type Entry, type WholeWindow } from "./query";
import { Text } from "./Text";

type Props = { window: Pick<WholeWindow, "id">; ids: readonly string[]; label: string };

/** What stands on the scratchpad under ids; fetched once it is opened. */
export function Entries({ window, ids, label }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <details className={styles.entries} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{label}</summary>
      {open && <Found window={window} ids={ids} label={label} />}
    </details>
  );
}

/** The entries under ids, in their order; what is no longer there is said to be gone. */
export function Found({ window, ids, label }: Props) {
  const client = useClient();
  const key = ids.join(" ");
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ found: Entry[]; missing: string[] } | CombinedError | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: turn asks again
  useEffect(() => {
    let over = false;
    const wanted = key === "" ? [] : key.split(" ");
    const pageAfter = async (after: string | null) => {
      const { window: found } = await ask(client, EntriesQuery, { id: window.id, after });
      return found ? pageOf(found.scratchpad) : { items: [], endCursor: null, hasNextPage: false };
    };
    findIn<Entry>(wanted, pageAfter).then(
      (found) => over || setState(found),
      (error) => over || setState(asCombined(error)),
    );
    return () => {
      over = true;
    };
  }, [client, window.id, key, turn]);
  if (!state) return <Loading what={label} />;
  if (state instanceof Error) return <ErrorScreen error={state} retry={() => setTurn(turn + 1)} />;
  return (
    <>
      <ol className={styles.aside} aria-label={label}>
        {state.found.map((e) => (
          <li key={e.id} data-entry={e.id}>
            <p className={styles.head}>
              <b>{t(`windows.type.${e.type}`)}</b>
              <span>{t("windows.tokens.n", { n: e.tokens })}</span>
            </p>
            <Text of={e.content} />
          </li>
        ))}
      </ol>
      {state.missing.length > 0 && (
        <p className={styles.gone}>{t("windows.entries.gone", { n: state.missing.length })}</p>
      )}
    </>
  );
}
