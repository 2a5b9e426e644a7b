import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { useClient, useMutation } from "urql";
import { fieldError, words } from "../../api/errors";
import { ask } from "../../api/query";
import { Button } from "../../ui/Button";
import { Field, Wrong } from "../../ui/Field";
import { nameOf } from "../../ui/format";
import { t } from "../../words";
import styles from "./Describe.module.css";
import { begin, type Draft, type FieldName, inputOf, limits, type Problem, prefers, problems } from "./draft";
import { kinds, namespacesOf } from "./kinds";
import { ComponentByKey, ComponentQuery, type Namespace, Upsert, type Whole } from "./query";

type Props = {
  /** What is changed; null: something new is described. */
  of: Whole | null;
  /** The hash that is to be described; null: the one that it has, or that follows from namespace and key. */
  hash: string | null;
  onSaved: (saved: Whole) => void;
  onClose: () => void;
};

type Problems = Partial<Record<FieldName | "other", string>>;
const fields: readonly FieldName[] = ["namespace", "key", "name", "description", "preferences", "data"];
const inWords = (found: Partial<Record<FieldName, Problem>>): Problems =>
  Object.fromEntries(Object.entries(found).map(([field, p]) => [field, t(p.id, p.values)]));

/**
 * Describes a component, or changes what is said of it. The API keeps whatever comes last, so what somebody else changed
 * since the form was opened is looked for first, and never overwritten unasked.
 */
export function Describe({ of, hash, onSaved, onClose }: Props) {
  const client = useClient();
  const [before, setBefore] = useState(of);
  const [draft, setDraft] = useState(() => begin(of));
  const [wrong, setWrong] = useState<Problems>({});
  const [other, setOther] = useState<Whole | null>(null);
  const [busy, setBusy] = useState(false);
  const [, upsert] = useMutation(Upsert);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(wrong).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [wrong]);
  const change = (part: Partial<Draft>) => {
    setDraft((d) => ({ ...d, ...part }));
    setWrong({});
    setOther(null);
  };

  // What stands there now, if it is not what the form began with.
  const meanwhile = async (): Promise<Whole | null> => {
    if (before) {
      const { component } = await ask(client, ComponentQuery, { hash: before.hash });
      return component && JSON.stringify(component) !== JSON.stringify(before) ? component : null;
    }
    const { namespace, key } = draft;
    const { components } = await ask(client, ComponentByKey, { namespace, key });
    return components.edges.map((e) => e.node).find((c) => c.key === key) ?? null;
  };
  const save = async (anyway: boolean) => {
    const found = inWords(problems(draft));
    setWrong(found);
    setOther(null);
    if (Object.keys(found).length > 0 || busy) return;
    setBusy(true);
    try {
      const changed = anyway ? null : await meanwhile();
      if (changed) return setOther(changed);
      const { data, error } = await upsert({ component: inputOf(draft, before && begin(before), hash) });
      const saved = data?.upsertComponents[0];
      if (saved) return onSaved(saved);
      if (!error) return;
      const { field, detail, code } = fieldError(error);
      const at = fields.find((f) => f === field);
      setWrong(
        at ? { [at]: t("components.wrong.server", { detail }) } : { other: `${field} ${detail} (${code})`.trim() },
      );
    } catch (error) {
      setWrong({ other: words(error) });
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    void save(false);
  };
  return (
    <form ref={form} className={styles.form} onSubmit={submit} noValidate>
      {hash && !before && <p>{t("components.describing", { hash: hash.slice(0, 16) })}</p>}
      <Names draft={draft} fixed={before !== null} wrong={wrong} change={change} />
      <Texts draft={draft} wrong={wrong} change={change} />
      {wrong.other && <Wrong>{wrong.other}</Wrong>}
      {other && (
        <div className={styles.other}>
          <Wrong>{t(before ? "components.meanwhile" : "components.taken", { name: nameOf(other) })}</Wrong>
          <div className={styles.actions}>
            <Button
              onClick={() => {
                setBefore(other);
                setDraft(begin(other));
                setOther(null);
              }}
            >
              {t("components.theirs")}
            </Button>
            {before && <Button onClick={() => void save(true)}>{t("components.mine")}</Button>}
          </div>
        </div>
      )}
      <div className={styles.actions}>
        <Button onClick={onClose}>{t("ui.cancel")}</Button>
        <Button type="submit" look="primary" icon="check" disabled={busy}>
          {busy ? t("ui.working") : t("components.save")}
        </Button>
      </div>
    </form>
  );
}

type PartProps = { draft: Draft; wrong: Problems; change: (part: Partial<Draft>) => void };

// What names it for programs, which never changes.
function Names({ draft, fixed, wrong, change }: PartProps & { fixed: boolean }) {
  return (
    <>
      <Field label={t("components.namespace")} wrong={wrong.namespace} hint={t("components.namespace.hint")}>
        {(props) => (
          <select
            {...props}
            disabled={fixed}
            value={draft.namespace}
            onChange={(e) => change({ namespace: e.target.value as Namespace })}
          >
            {kinds.map((kind) => (
              <optgroup key={kind} label={t(`components.kind.${kind}`)}>
                {namespacesOf[kind].map((n) => (
                  <option key={n} value={n}>
                    {t(`components.namespace.${n}`)}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        )}
      </Field>
      <Field label={t("components.key")} wrong={wrong.key} hint={t("components.key.hint", { most: limits.key })}>
        {(props) => (
          <input
            {...props}
            disabled={fixed}
            spellCheck={false}
            value={draft.key}
            onChange={(e) => change({ key: e.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function Texts({ draft, wrong, change }: PartProps) {
  return (
    <>
      <Field label={t("components.name")} wrong={wrong.name} hint={t("components.name.hint", { most: limits.name })}>
        {(props) => <input {...props} value={draft.name} onChange={(e) => change({ name: e.target.value })} />}
      </Field>
      <Field
        label={t("components.description")}
        wrong={wrong.description}
        hint={t("components.description.hint", { most: limits.description })}
      >
        {(props) => (
          <textarea {...props} value={draft.description} onChange={(e) => change({ description: e.target.value })} />
        )}
      </Field>
      {prefers(draft.namespace) && (
        <Field
          label={t("components.preferences")}
          wrong={wrong.preferences}
          hint={t("components.preferences.hint", { most: limits.preferences, bytes: limits.preference })}
        >
          {(props) => (
            <textarea {...props} value={draft.preferences} onChange={(e) => change({ preferences: e.target.value })} />
          )}
        </Field>
      )}
      <Field label={t("components.data")} wrong={wrong.data} hint={t("components.data.hint", { most: limits.data })}>
        {(props) => (
          <textarea
            {...props}
            spellCheck={false}
            value={draft.data}
            onChange={(e) => change({ data: e.target.value })}
          />
        )}
      </Field>
    </>
  );
}
