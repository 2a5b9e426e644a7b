import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { useMutation } from "urql";
import { fieldError } from "../../api/errors";
import { Button } from "../../ui/Button";
import { Field, Wrong } from "../../ui/Field";
import { t } from "../../words";
import styles from "./AddForm.module.css";
import { begin, type Draft, type FieldName, inputOf, limits, problems } from "./draft";
import { AddRecord, type RecordInput } from "./query";

type Props = {
  kind: RecordInput["kind"] | null;
  book: string;
  onAdded: (hash: string) => void;
  onClose: () => void;
};

type Wrongs = Partial<Record<FieldName | "other", string>>;
const fields: readonly FieldName[] = ["kind", "book", "title", "content", "data", "verified"];
const kinds = ["SECRETARY", "ACCOUNTANT"] as const;

/** Asks for a record to add. One that is there already is opened as it is: the same record is the same hash. */
export function AddForm({ kind, book, onAdded, onClose }: Props) {
  const [draft, setDraft] = useState(() => begin(kind, book));
  const [wrong, setWrong] = useState<Wrongs>({});
  const [{ fetching }, add] = useMutation(AddRecord);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(wrong).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [wrong]);
  const change = (part: Partial<Draft>) => {
    setDraft((d) => ({ ...d, ...part }));
    setWrong({});
  };
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = Object.entries(problems(draft)).map(([field, p]) => [field, t(p.id, p.values)]);
    setWrong(Object.fromEntries(found));
    if (found.length > 0) return;
    const { data, error } = await add({ record: inputOf(draft) });
    const added = data?.addRecords[0];
    if (added) return onAdded(added.hash);
    if (!error) return;
    const { field, detail, code } = fieldError(error);
    const at = fields.find((f) => f === field);
    setWrong(at ? { [at]: t("records.wrong.server", { detail }) } : { other: `${field} ${detail} (${code})`.trim() });
  };
  return (
    <form ref={form} className={styles.form} onSubmit={submit} noValidate>
      <p className={styles.note}>{t("records.new.note")}</p>
      <Field label={t("records.kind")} wrong={wrong.kind} hint={t("records.kind.hint")}>
        {(props) => (
          <select {...props} value={draft.kind} onChange={(e) => change({ kind: e.target.value as Draft["kind"] })}>
            {kinds.map((k) => (
              <option key={k} value={k}>
                {t(`records.kind.${k}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Texts draft={draft} wrong={wrong} change={change} />
      <label className={styles.verified}>
        <input type="checkbox" checked={draft.verified} onChange={(e) => change({ verified: e.target.checked })} />
        {t("records.verify")}
      </label>
      {wrong.verified && <Wrong>{wrong.verified}</Wrong>}
      {wrong.other && <Wrong>{wrong.other}</Wrong>}
      <div className={styles.actions}>
        <Button onClick={onClose}>{t("ui.cancel")}</Button>
        <Button type="submit" look="primary" icon="plus" disabled={fetching}>
          {fetching ? t("ui.working") : t("records.add")}
        </Button>
      </div>
    </form>
  );
}

type PartProps = { draft: Draft; wrong: Wrongs; change: (part: Partial<Draft>) => void };

function Texts({ draft, wrong, change }: PartProps) {
  return (
    <>
      <Field label={t("records.ofBook")} wrong={wrong.book} hint={t("records.ofBook.hint", { most: limits.book })}>
        {(props) => <input {...props} value={draft.book} onChange={(e) => change({ book: e.target.value })} />}
      </Field>
      <Field label={t("records.subject")} wrong={wrong.title} hint={t("records.subject.hint", { most: limits.title })}>
        {(props) => <input {...props} value={draft.title} onChange={(e) => change({ title: e.target.value })} />}
      </Field>
      <Field label={t("records.text")} wrong={wrong.content} hint={t("records.text.hint", { most: limits.content })}>
        {(props) => <textarea {...props} value={draft.content} onChange={(e) => change({ content: e.target.value })} />}
      </Field>
      <Field label={t("records.data")} wrong={wrong.data} hint={t("records.data.hint", { most: limits.data })}>
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
