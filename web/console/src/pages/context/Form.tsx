import { type SubmitEvent, useEffect, useState } from "react";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Picker } from "../../ui/Picker";
import { t } from "../../words";
import styles from "./Form.module.css";
import { Settings } from "./Settings";
import { Where } from "./Where";

/** try: nothing is kept; ask: what is selected is kept, with its receipt. */
export type How = "try" | "ask";

type Props = {
  params: URLSearchParams;
  busy: boolean;
  onAsk: (params: URLSearchParams, how: How) => void;
  children?: React.ReactNode;
};

/** What is written into the form, by its names in the address. */
export type Draft = {
  all: (name: string) => string[];
  get: (name: string, usual?: string | number) => string;
  set: (name: string, values: readonly string[]) => void;
};

/** The question, the settings and where to look. Nothing is asked before it is sent; then all of it is in the address. */
export function Form({ params, busy, onAsk, children }: Props) {
  const [written, setWritten] = useState(() => new URLSearchParams(params));
  const [empty, setEmpty] = useState(false);
  const address = params.toString();
  useEffect(() => setWritten(new URLSearchParams(address)), [address]);
  const draft: Draft = {
    all: (name) => written.getAll(name),
    get: (name, usual = "") => written.get(name) ?? String(usual),
    set: (name, values) => {
      const next = new URLSearchParams(written);
      next.delete(name);
      for (const value of values) if (value) next.append(name, value);
      setWritten(next);
    },
  };
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const missing = draft.get("q").trim() === "";
    setEmpty(missing);
    const button = event.nativeEvent.submitter;
    const how = button instanceof HTMLButtonElement && button.value === "ask" ? "ask" : "try";
    if (!missing) onAsk(new URLSearchParams(written), how);
  };
  const two = draft.get("two") !== "";
  return (
    <form className={styles.form} onSubmit={submit}>
      <label className={styles.field}>
        <span>{t("lab.query")}</span>
        <textarea
          rows={3}
          value={draft.get("q")}
          onChange={(e) => draft.set("q", [e.target.value])}
          aria-invalid={empty || undefined}
          aria-describedby={empty ? "q-empty" : undefined}
          placeholder={t("lab.query.hint")}
        />
        {empty && (
          <span id="q-empty" className={styles.bad} role="alert">
            {t("lab.query.empty")}
          </span>
        )}
      </label>
      <div className={styles.ways}>
        <Button type="submit" value="try" look="primary" icon="tool">
          {t("lab.try")}
        </Button>
        <Button type="submit" value="ask" icon="context" disabled={busy}>
          {busy ? t("lab.asking") : t("lab.ask")}
        </Button>
      </div>
      <p className={styles.note}>{t("lab.ways")}</p>
      <Settings draft={draft} side={1} title={two ? t("lab.side.1") : t("lab.settings")} />
      <label className={styles.keep}>
        <input type="checkbox" checked={two} onChange={(e) => draft.set("two", e.target.checked ? ["1"] : [])} />
        <span>
          {t("lab.two")}
          <small>{t("lab.two.detail")}</small>
        </span>
      </label>
      {two && <Settings draft={draft} side={2} title={t("lab.side.2")} />}
      <Where params={params} draft={draft} />
      <Keep
        shown={params.get("selection")}
        kept={draft.get("keep") || null}
        onKeep={(id) => draft.set("keep", id ? [id] : [])}
      />
      <Preferences draft={draft} />
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
        {t("lab.keep")}
        <small>{t("lab.keep.detail")}</small>
      </span>
    </label>
  );
}

function Preferences({ draft }: { draft: Draft }) {
  const { identity } = useSession();
  return (
    <fieldset className={styles.group}>
      <legend>{t("lab.preferences")}</legend>
      {isAdmin(identity) ? (
        <Picker
          label={t("lab.player")}
          namespaces={["PLY", "PLU", "PLX"]}
          chosen={draft.all("as")}
          most={1}
          onChoose={(hashes) => draft.set("as", hashes)}
        />
      ) : (
        <label className={styles.keep}>
          <input
            type="checkbox"
            checked={draft.get("as") === identity.player}
            onChange={(e) => draft.set("as", e.target.checked ? [identity.player] : [])}
          />
          <span>
            {t("lab.mine")}
            <small>{t("lab.others")}</small>
          </span>
        </label>
      )}
    </fieldset>
  );
}
