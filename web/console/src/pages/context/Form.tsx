import { type SubmitEvent, useEffect, useState } from "react";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button, IconButton } from "../../ui/Button";
import { part, short } from "../../ui/format";
import { Picker } from "../../ui/Picker";
import { T, t } from "../../words";
import styles from "./Form.module.css";
import { type ListName, limits, lists } from "./request";

type Props = {
  params: URLSearchParams;
  busy: boolean;
  onAsk: (params: URLSearchParams) => void;
  children?: React.ReactNode;
};

const pickers: { name: Exclude<ListName, "thread">; namespaces: Parameters<typeof Picker>[0]["namespaces"] }[] = [
  { name: "player", namespaces: ["PLY", "PLU", "PLX"] },
  { name: "tag", namespaces: ["HST", "SPE", "VSN", "VUE", "HSU"] },
  { name: "item", namespaces: ["ITM", "ITU", "ITX"] },
  { name: "place", namespaces: ["LOC", "LOU", "LOX"] },
  { name: "flag", namespaces: ["FLG", "FLU"] },
];

const kinds = ["CONTEXT", "ACCOUNTANT", "SECRETARY"] as const;

/** The question and where to look. Nothing is asked before it is sent; then all of it is in the address. */
export function Form({ params, busy, onAsk, children }: Props) {
  const { identity } = useSession();
  const [draft, setDraft] = useState(() => new URLSearchParams(params));
  const [empty, setEmpty] = useState(false);
  const address = params.toString();
  useEffect(() => setDraft(new URLSearchParams(address)), [address]);
  const set = (name: string, values: string[]) => {
    const next = new URLSearchParams(draft);
    next.delete(name);
    for (const value of values) if (value) next.append(name, value);
    setDraft(next);
  };
  const get = (name: string, usual: string | number = "") => draft.get(name) ?? String(usual);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const missing = get("q").trim() === "";
    setEmpty(missing);
    if (!missing) onAsk(draft);
  };
  const types = draft.getAll("type");
  // A narrow screen keeps the scope folded until it is used, so that the answer is near.
  const [unfolded] = useState(() => window.matchMedia("(min-width: 901px)").matches || scoped(params));
  return (
    <form className={styles.form} onSubmit={submit}>
      <label className={styles.field}>
        <span>{t("context.ask")}</span>
        <textarea
          rows={3}
          value={get("q")}
          onChange={(e) => set("q", [e.target.value])}
          aria-invalid={empty || undefined}
          aria-describedby={empty ? "q-empty" : undefined}
          placeholder={t("context.ask.hint")}
        />
        {empty && (
          <span id="q-empty" className={styles.bad} role="alert">
            {t("context.ask.empty")}
          </span>
        )}
      </label>
      <Button type="submit" look="primary" icon="context" disabled={busy}>
        {busy ? t("context.asking") : t("context.title")}
      </Button>
      <Amounts get={get} set={set} />
      <details className={styles.more} open={unfolded}>
        <summary>{t("context.scope")}</summary>
        {draft.getAll("thread").map((hash) => (
          <p key={hash} className={styles.thread}>
            <T id="context.scope.thread" values={{ hash: <code title={hash}>{short(hash)}</code> }} />
            <IconButton
              icon="close"
              label={t("context.scope.every")}
              onClick={() =>
                set(
                  "thread",
                  draft.getAll("thread").filter((h) => h !== hash),
                )
              }
            />
          </p>
        ))}
        {has(identity, "log:read") ? null : <p className={styles.note}>{t("context.scope.lacked")}</p>}
        {pickers.map(({ name, namespaces }) => (
          <Picker
            key={name}
            label={t(`context.scope.${name}`)}
            namespaces={namespaces}
            chosen={draft.getAll(name)}
            onChoose={(hashes) => set(name, hashes)}
          />
        ))}
        <div className={styles.kinds}>
          {kinds.map((value) => (
            <label key={value}>
              <input
                type="checkbox"
                checked={types.includes(value)}
                onChange={(e) =>
                  set("type", e.target.checked ? [...types, value] : types.filter((other) => other !== value))
                }
              />
              {t(`context.kind.${value}`)}
            </label>
          ))}
        </div>
        <div className={styles.pair}>
          <label className={styles.field}>
            <span>{t("context.since")}</span>
            <input type="date" value={get("since")} onChange={(e) => set("since", [e.target.value])} />
          </label>
          <label className={styles.field}>
            <span>{t("context.until")}</span>
            <input type="date" value={get("until")} onChange={(e) => set("until", [e.target.value])} />
          </label>
        </div>
      </details>
      <Keep shown={params.get("selection")} kept={draft.get("keep")} onKeep={(id) => set("keep", id ? [id] : [])} />
      <fieldset className={styles.group}>
        <legend>{t("context.as")}</legend>
        {isAdmin(identity) ? (
          <Picker
            label={t("context.as.player")}
            namespaces={["PLY", "PLU", "PLX"]}
            chosen={draft.getAll("as")}
            most={1}
            onChoose={(hashes) => set("as", hashes)}
          />
        ) : (
          <label className={styles.keep}>
            <input
              type="checkbox"
              checked={draft.get("as") === identity.player}
              onChange={(e) => set("as", e.target.checked ? [identity.player] : [])}
            />
            <span>
              {t("context.as.mine")}
              <small>{t("context.as.others")}</small>
            </span>
          </label>
        )}
      </fieldset>
      {children}
    </form>
  );
}

type KeepProps = { shown: string | null; kept: string | null; onKeep: (id: string | null) => void };

/** Whether the block of the selection that is shown stays as the beginning of the next one. */
function Keep({ shown, kept, onKeep }: KeepProps) {
  const id = shown ?? kept;
  if (id === null) return null;
  return (
    <label className={styles.keep}>
      <input type="checkbox" checked={kept !== null} onChange={(e) => onKeep(e.target.checked ? id : null)} />
      <span>
        {t("context.keep")}
        <small>{t("context.keep.help")}</small>
      </span>
    </label>
  );
}

function scoped(params: URLSearchParams): boolean {
  return [...Object.keys(lists), "type", "since", "until"].some((name) => params.has(name));
}

type Fields = { get: (name: string, usual?: string | number) => string; set: (name: string, values: string[]) => void };

function Amounts({ get, set }: Fields) {
  const threshold = get("threshold", limits.threshold.usual);
  return (
    <fieldset className={styles.group}>
      <legend>{t("context.amounts")}</legend>
      <label className={styles.field}>
        <span>
          <T id="context.threshold" values={{ value: <output>{part(Number(threshold))}</output> }} />
        </span>
        <input
          type="range"
          min={0}
          max={1}
          step={0.05}
          value={threshold}
          onChange={(e) => set("threshold", [e.target.value])}
        />
      </label>
      <div className={styles.pair}>
        <label className={styles.field}>
          <span>{t("context.limit")}</span>
          <input
            type="number"
            min={limits.limit.least}
            max={limits.limit.most}
            required
            value={get("limit", limits.limit.usual)}
            onChange={(e) => set("limit", [e.target.value])}
          />
        </label>
        <label className={styles.field}>
          <span>{t("context.budget")}</span>
          <input
            type="number"
            min={1}
            max={limits.budget.most}
            placeholder={t("context.budget.none")}
            value={get("budget")}
            onChange={(e) => set("budget", [e.target.value])}
          />
        </label>
      </div>
    </fieldset>
  );
}
