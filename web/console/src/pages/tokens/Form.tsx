import { type ReactNode, type SubmitEvent, useEffect, useId, useRef, useState } from "react";
import { useMutation } from "urql";
import { fieldError } from "../../api/errors";
import { allScopes, has, isAdmin, type Scope, scopeWords } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { dateTime } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { t } from "../../words";
import {
  begin,
  type Draft,
  endOf,
  inputOf,
  type Kind,
  kinds,
  kindsFor,
  kindWord,
  limits,
  problems,
  usualScopes,
} from "./draft";
import styles from "./NewToken.module.css";
import { PlayerField } from "./PlayerField";
import { CreateToken, type Made } from "./query";

type Problems = Record<string, string>;

/** Asks for everything that a token is made with. What the server refuses is said beside the field that it names. */
export function Form({ onMade, onClose }: { onMade: (made: Made) => void; onClose: () => void }) {
  const { identity } = useSession();
  const [draft, setDraft] = useState(() => begin("AGENT", identity));
  const [wrong, setWrong] = useState<Problems>({});
  const [{ fetching }, create] = useMutation(CreateToken);
  const form = useRef<HTMLFormElement>(null);
  const change = (part: Partial<Draft>) => {
    setDraft((d) => ({ ...d, ...part }));
    setWrong({});
  };
  useEffect(() => {
    if (Object.keys(wrong).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [wrong]);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = problems(draft);
    setWrong(found);
    if (Object.keys(found).length > 0) return;
    const { data, error } = await create({ input: inputOf(draft, Date.now()) });
    if (data) return onMade(data.createToken);
    if (!error) return;
    const { field, detail, code } = fieldError(error);
    setWrong(
      fields.includes(field)
        ? { [field]: t("tokens.server.field", { detail }) }
        : { other: t("tokens.server.named", { field, detail, code }).trim() },
    );
  };
  return (
    <form ref={form} className={styles.body} onSubmit={submit} noValidate>
      <Kinds draft={draft} wrong={wrong.kind} onChoose={(kind) => setDraft((d) => begin(kind, identity, d))} />
      {isAdmin(identity) ? (
        <PlayerField chosen={draft.player} wrong={wrong.player} onChoose={(player) => change({ player })} />
      ) : (
        <p className={styles.hint}>{t("tokens.stands.own")}</p>
      )}
      <ScopesField draft={draft} wrong={wrong.scopes} onChange={(chosen) => change({ scopes: chosen })} />
      <Expiry draft={draft} wrong={wrong.expiresAt} onChange={(days) => change({ days })} />
      <Field label={t("tokens.note.label")} wrong={wrong.note} hint={t("tokens.note.hint")}>
        {(props) => <input {...props} value={draft.note} onChange={(e) => change({ note: e.target.value })} />}
      </Field>
      {wrong.other && <Wrong>{wrong.other}</Wrong>}
      <div className={styles.actions}>
        <Button onClick={onClose}>{t("tokens.cancel")}</Button>
        <Button type="submit" look="primary" icon="key" disabled={fetching}>
          {fetching ? t("tokens.making") : t("tokens.make")}
        </Button>
      </div>
    </form>
  );
}

const fields = ["kind", "player", "scopes", "expiresAt", "note"];

function Kinds({ draft, wrong, onChoose }: { draft: Draft; wrong: string | undefined; onChoose: (k: Kind) => void }) {
  const { identity } = useSession();
  const offered = kindsFor(identity);
  return (
    <fieldset className={styles.group}>
      <legend>{t("tokens.kind")}</legend>
      <div className={styles.kinds}>
        {offered.map((kind) => (
          <label key={kind} className={styles.choice}>
            <input
              type="radio"
              name="kind"
              checked={draft.kind === kind}
              aria-invalid={wrong ? true : undefined}
              onChange={() => onChoose(kind)}
            />
            <span>
              <b>{kindWord(kind)}</b> <code>{kinds[kind].prefix}…</code>
              <span className={styles.hint}>{t(`tokens.about.${kind}`)}</span>
            </span>
          </label>
        ))}
      </div>
      {!isAdmin(identity) && <p className={styles.hint}>{t("tokens.kind.admin")}</p>}
      {wrong && <Wrong>{wrong}</Wrong>}
    </fieldset>
  );
}

type ScopesProps = { draft: Draft; wrong: string | undefined; onChange: (scopes: Scope[]) => void };

function ScopesField({ draft, wrong, onChange }: ScopesProps) {
  const { identity } = useSession();
  const usual = usualScopes(draft.kind, identity);
  const same = usual.length === draft.scopes.length && usual.every((s) => draft.scopes.includes(s));
  const toggle = (scope: Scope, on: boolean) =>
    onChange(allScopes.filter((s) => (s === scope ? on : draft.scopes.includes(s))));
  return (
    <fieldset className={styles.group}>
      <legend>{t("tokens.scopes")}</legend>
      <div className={styles.scopes}>
        {allScopes.map((scope) => (
          <label key={scope} className={styles.choice}>
            <input
              type="checkbox"
              checked={draft.scopes.includes(scope)}
              disabled={!has(identity, scope)}
              aria-invalid={wrong ? true : undefined}
              onChange={(e) => toggle(scope, e.target.checked)}
            />
            <span>
              <code>{scope}</code>
              {kinds[draft.kind].scopes.includes(scope) && <span className={styles.usual}>{t("tokens.usual")}</span>}
              <span className={styles.hint}>
                {has(identity, scope) ? scopeWords(scope) : t("tokens.scopes.lacked", { scope: scopeWords(scope) })}
              </span>
            </span>
          </label>
        ))}
      </div>
      {!same && (
        <div>
          <Button onClick={() => onChange(usual)}>{t(`tokens.usual.${draft.kind}`)}</Button>
        </div>
      )}
      {wrong && <Wrong>{wrong}</Wrong>}
    </fieldset>
  );
}

function Expiry({
  draft,
  wrong,
  onChange,
}: {
  draft: Draft;
  wrong: string | undefined;
  onChange: (d: string) => void;
}) {
  const days = Number(draft.days);
  const usual = kinds[draft.kind].days;
  const ends = days >= 1 && days <= limits.days ? dateTime(new Date(endOf(days, Date.now())).toISOString()) : null;
  return (
    <Field
      label={t("tokens.days")}
      wrong={wrong}
      hint={
        ends
          ? t("tokens.days.hint.ends", { most: limits.days, usual, ends })
          : t("tokens.days.hint", { most: limits.days, usual })
      }
    >
      {(props) => (
        <input
          {...props}
          className={styles.days}
          type="number"
          inputMode="numeric"
          min={1}
          max={limits.days}
          value={draft.days}
          onChange={(e) => onChange(e.target.value)}
        />
      )}
    </Field>
  );
}

type Control = { id: string; "aria-describedby": string; "aria-invalid": true | undefined };

/** A field with its label, what to know of it, and what is wrong with it. */
export function Field({
  label,
  hint,
  wrong,
  children,
}: {
  label: string;
  hint: ReactNode;
  wrong?: string | undefined;
  children: (control: Control) => ReactNode;
}) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}hint`, "aria-invalid": wrong ? true : undefined })}
      <div id={`${id}hint`}>
        {wrong && <Wrong>{wrong}</Wrong>}
        <p className={styles.hint}>{hint}</p>
      </div>
    </div>
  );
}

/** What is wrong, beside what it is wrong with. */
export function Wrong({ children }: { children: ReactNode }) {
  return (
    <p className={styles.wrong} role="alert">
      <Icon name="error" size={14} />
      <span>{children}</span>
    </p>
  );
}
