import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Field, Wrong } from "../../ui/Field";
import { useForm, type Wrongs } from "../../ui/useForm";
import { t } from "../../words";
import type { PartProps } from "./Body";
import { begin, type Draft, type FieldName, inputOf, limits, problems } from "./draft";
import { OperationRow } from "./OperationRow";
import { itemsOf, types } from "./parts";
import { Offload, type Operation, type Segment, WriteContext, WriteToSegment } from "./query";
import { Result } from "./Result";
import styles from "./Write.module.css";

// What came of the last write: an operation to look at, or that it is on the scratchpad.
type Done = { rejected: boolean; operation: Operation | null } | "aside";
const fields: readonly FieldName[] = ["type", "content", "key", "observedAt", "segment"];
const wheres = ["window", "segment", "scratchpad"] as const;

type Props = PartProps & { segment: string; onClose: () => void };

/** Writes to a window, or to what it shares, by hand, as an agent would, and shows what came of it: that too is on record. */
export function Write({ segment, onClose, ...props }: Props) {
  const { window, read, onChanged } = props;
  const [done, setDone] = useState<Done | null>(null);
  const [, write] = useMutation(WriteContext);
  const [, share] = useMutation(WriteToSegment);
  const [, offload] = useMutation(Offload);
  const send = async (d: Draft) => {
    if (d.to === "scratchpad") {
      const { error } = await offload({ window: window.id, contents: [d.content] });
      return { error, came: "aside" as const };
    }
    const input = inputOf(window.id, d);
    if (d.to === "segment") {
      const { data, error } = await share({ segment: d.segment, input, read });
      return { error, came: data?.writeToSegment };
    }
    const { data, error } = await write({ input, read });
    return { error, came: data?.writeContext };
  };
  const { draft, wrong, busy, ref, change, submit } = useForm({
    begin: () => begin(segment),
    fields,
    problems,
    send: async (d) => {
      setDone(null);
      const { error, came } = await send(d);
      onChanged(); // what did not fit is on record, too
      if (error) return error;
      if (came) setDone(came === "aside" ? came : { rejected: came.rejected !== null, operation: came.operation });
      change({ content: "" });
      return null;
    },
  });
  return (
    <div className={styles.body}>
      <form ref={ref} className={styles.form} onSubmit={(e) => void submit(e)} noValidate>
        <Choice
          label={t("windows.write.to")}
          value={draft.to}
          options={wheres
            .filter((value) => value !== "segment" || window.segments.length > 0)
            .map((value) => ({ value, word: t(`windows.write.to.${value}`) }))}
          onChoose={(to) => change({ to, segment: draft.segment || (window.segments[0]?.id ?? "") })}
        />
        {draft.to === "segment" && <Where draft={draft} wrong={wrong} change={change} of={window.segments} />}
        <Content draft={draft} wrong={wrong} change={change} />
        {draft.to !== "scratchpad" && <More draft={draft} wrong={wrong} change={change} />}
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

type TextProps = { draft: Draft; wrong: Wrongs<FieldName>; change: (part: Partial<Draft>) => void };

function Where({ draft, wrong, change, of: segments }: TextProps & { of: readonly Segment[] }) {
  const chosen = segments.find((s) => s.id === draft.segment);
  return (
    <Field
      label={t("windows.write.segment")}
      wrong={wrong.segment}
      hint={chosen && t("windows.write.segment.hint", { n: chosen.windowCount })}
    >
      {(of) => (
        <select {...of} value={draft.segment} onChange={(e) => change({ segment: e.target.value })}>
          {segments.map((s) => (
            <option key={s.id} value={s.id}>
              {s.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Content({ draft, wrong, change }: TextProps) {
  return (
    <Field
      label={t("windows.write.content")}
      wrong={wrong.content}
      hint={t("windows.write.content.hint", { most: limits.content })}
    >
      {(of) => (
        <textarea {...of} data-next value={draft.content} onChange={(e) => change({ content: e.target.value })} />
      )}
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
      <Result fine={fine}>{t(words)}</Result>
      {of !== "aside" && of.operation && (
        <OperationRow {...props} operation={of.operation} items={itemsOf(props.window)} />
      )}
    </div>
  );
}
