import { useState } from "react";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { lists, namespaces, things } from "../../filter/scope";
import { IconButton } from "../../ui/Button";
import { short } from "../../ui/format";
import { Picker } from "../../ui/Picker";
import { T, t } from "../../words";
import type { Draft } from "./Form";
import styles from "./Form.module.css";

const kinds = ["CONTEXT", "ACCOUNTANT", "SECRETARY"] as const;

/** Which part of the log to look at. params: the address, which says whether anything narrows it yet. */
export function Where({ params, draft }: { params: URLSearchParams; draft: Draft }) {
  const { identity } = useSession();
  const types = draft.all("type");
  const threads = draft.all("thread");
  // A narrow screen keeps the scope folded until it is used, so that the answer is near.
  const [unfolded] = useState(() => window.matchMedia("(min-width: 901px)").matches || scoped(params));
  return (
    <details className={styles.more} open={unfolded}>
      <summary>{t("lab.where")}</summary>
      {threads.map((hash) => (
        <p key={hash} className={styles.thread}>
          <span>
            <T id="lab.thread" values={{ hash: <code title={hash}>{short(hash)}</code> }} />
          </span>
          <IconButton
            icon="close"
            label={t("lab.thread.all")}
            onClick={() =>
              draft.set(
                "thread",
                threads.filter((h) => h !== hash),
              )
            }
          />
        </p>
      ))}
      {has(identity, "log:read") ? null : <p className={styles.note}>{t("lab.unread")}</p>}
      {things.map((name) => (
        <Picker
          key={name}
          label={t(`lab.scope.${name}`)}
          namespaces={[...namespaces[name]]}
          chosen={draft.all(name)}
          onChoose={(hashes) => draft.set(name, hashes)}
        />
      ))}
      <div className={styles.kinds}>
        {kinds.map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={types.includes(kind)}
              onChange={(e) =>
                draft.set("type", e.target.checked ? [...types, kind] : types.filter((other) => other !== kind))
              }
            />
            {t(`lab.kind.${kind}`)}
          </label>
        ))}
      </div>
      <div className={styles.pair}>
        {(["since", "until"] as const).map((name) => (
          <label key={name} className={styles.field}>
            <span>{t(`lab.${name}`)}</span>
            <input type="date" value={draft.get(name)} onChange={(e) => draft.set(name, [e.target.value])} />
          </label>
        ))}
      </div>
    </details>
  );
}

function scoped(params: URLSearchParams): boolean {
  return [...Object.keys(lists), "type", "since", "until"].some((name) => params.has(name));
}
