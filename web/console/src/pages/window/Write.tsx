import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { type CombinedError, useMutation } from "urql";
import { describe, fieldError } from "../../api/errors";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Field, Wrong } from "../../ui/Field";
import { Icon } from "../../ui/icons";
import { t } from "../../words";
import type { PartProps } from "./Body";
import { begin, type Draft, type FieldName, inputOf, limits, problems } from "./draft";
import { OperationRow } from "./OperationRow";
import { itemsOf, types } from "./parts";
import { Offload, type Operation, WriteContext } from "./query";
import styles from "./Write.module.css";

type Wrongs = Partial<Record<FieldName | "other", string>>;
// What came of the last write: an operation to look at, or that it is on the scratchpad.
type Done = { rejected: boolean; operation: Operation | null } | "aside";
const fields: readonly FieldName[] = ["type", "content", "key", "observedAt"];
const wheres = ["window", "scratchpad"] as const;

/** Writes to a window by hand, as an agent would, and shows what came of it: that too is on record. */
export function Write(props: PartProps & { onClose: () => void }) {
  const { window, read, onChanged, onClose } = props;
  const [draft, setDraft] = useState(begin);
  const [wrong, setWrong] = useState<Wrongs>({});
  const [done, setDone] = useState<Done | null>(null);
  const [written, write] = useMutation(WriteContext);
  const [aside, offload] = useMutation(Offload);
  const busy = written.fetching || aside.fetching;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(wrong).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [wrong]);
  const change = (part: Partial<Draft>) => {
    setDraft((d) => ({ ...d, ...part }));
    setWrong({});
  };
  const refused = (error: CombinedError) => {
    const { field, detail, code } = fieldError(error);
    const at = fields.find((f) => f === field);
    setWrong({ [at ?? "other"]: at ? detail : `${describe(error).detail} (${code})` });
    onChanged(); // what did not fit is on record, too
  };
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = Object.entries(problems(draft)).map(([field, p]) => [field, t(p.id, p.values)]);
    setWrong(Object.fromEntries(found));
    if (found.length > 0 || busy) return;
    setDone(null);
    if (draft.to === "scratchpad") {
      const { error } = await offload({ window: window.id, contents: [draft.content] });
      if (error) return refused(error);
      setDone("aside");
    } else {
      const { data, error } = await write({ input: inputOf(window.id, draft), read });
      if (error) return refused(error);
      if (data) setDone({ rejected: data.writeContext.rejected !== null, operation: data.writeContext.operation });
    }
    change({ content: "" });
    onChanged();
  };
  return (
    <div className={styles.body}>
      <form ref={form} className={styles.form} onSubmit={(e) => void submit(e)} noValidate>
        <Choice
          label={t("windows.write.to")}
          value={draft.to}
          options={wheres.map((value) => ({ value, word: t(`windows.write.to.${value}`) }))}
          onChoose={(to) => change({ to })}
        />
        <Content draft={draft} wrong={wrong} change={change} />
        {draft.to === "window" && <More draft={draft} wrong={wrong} change={change} />}
        {wrong.other && <Wrong>{wrong.other}</Wrong>}
        <div className={styles.actions}>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" look="primary" icon="edit" disabled={busy}>
            {busy ? t("ui.working") : t("windows.write.do")}
          </Button>
        </div>
      </form>
      <div role="status">{done && <Came of={done} {...props} />}</div>
    </div>
  );
}

type TextProps = { draft: Draft; wrong: Wrongs; change: (part: Partial<Draft>) => void };

function Content({ draft, wrong, change }: TextProps) {
  return (
    <Field
      label={t("windows.write.content")}
      wrong={wrong.content}
      hint={t("windows.write.content.hint", { most: limits.content })}
    >
      {(of) => <textarea {...of} value={draft.content} onChange={(e) => change({ content: e.target.value })} />}
    </Field>
  );
}

function More({ draft, wrong, change }: TextProps) {
  return (
    <>
      <Field label={t("windows.type")} wrong={wrong.type} hint={t(`windows.type.why.${draft.type}`)}>
        {(of) => (
          <select {...of} value={draft.type} onChange={(e) => change({ type: e.target.value as Draft["type"] })}>
            {types.map((type) => (
              <option key={type} value={type}>
                {t(`windows.type.${type}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t("table.head.key")} wrong={wrong.key} hint={t("windows.write.key.hint", { most: limits.key })}>
        {(of) => (
          <input {...of} value={draft.key} spellCheck={false} onChange={(e) => change({ key: e.target.value })} />
        )}
      </Field>
      <Field label={t("windows.write.observed")} wrong={wrong.observedAt} hint={t("windows.write.observed.hint")}>
        {(of) => (
          <input
            {...of}
            type="datetime-local"
            value={draft.observedAt}
            onChange={(e) => change({ observedAt: e.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function Came({ of, ...props }: PartProps & { of: Done }) {
  const fine = of === "aside" || !of.rejected;
  const words =
    of === "aside" ? "windows.write.aside" : of.rejected ? "windows.write.rejected" : "windows.write.entered";
  return (
    <div className={styles.came}>
      <p className={styles.result} data-fine={fine}>
        <Icon name={fine ? "check" : "error"} />
        {t(words)}
      </p>
      {of !== "aside" && of.operation && (
        <OperationRow {...props} operation={of.operation} items={itemsOf(props.window)} />
      )}
    </div>
  );
}
