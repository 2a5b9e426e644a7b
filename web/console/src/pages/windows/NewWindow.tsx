import { useId } from "react";
import { useMutation } from "urql";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Field, Wrong } from "../../ui/Field";
import { Picker } from "../../ui/Picker";
import { useForm } from "../../ui/useForm";
import { t } from "../../words";
import { begin, type Draft, encodings, type FieldName, inputOf, limits, problems } from "./draft";
import { CreateWindow } from "./query";
import styles from "./Windows.module.css";

const fields: readonly FieldName[] = ["name", "capacity", "agent", "task", "encoding"];
const { least, most } = limits.capacity;

type Props = { onMade: (id: string) => void; onClose: () => void };

/** Asks for what a window is made with. What the server refuses is said beside the field that it names. */
export function NewWindow({ onMade, onClose }: Props) {
  const [, create] = useMutation(CreateWindow);
  const { draft, wrong, busy, ref, change, submit } = useForm({
    begin,
    fields,
    problems,
    send: async (d) => {
      const { data, error } = await create({ input: inputOf(d) });
      if (data) onMade(data.createWindow.id);
      return error ?? null;
    },
  });
  return (
    <form ref={ref} className={styles.form} onSubmit={(e) => void submit(e)} noValidate>
      <Field label={t("table.head.name")} wrong={wrong.name} hint={t("windows.name.hint", { most: limits.name })}>
        {(of) => <input {...of} value={draft.name} onChange={(e) => change({ name: e.target.value })} />}
      </Field>
      <Field label={t("windows.capacity")} wrong={wrong.capacity} hint={t("windows.capacity.hint", { least, most })}>
        {(of) => (
          <input
            {...of}
            type="number"
            inputMode="numeric"
            min={least}
            max={most}
            value={draft.capacity}
            onChange={(e) => change({ capacity: e.target.value })}
          />
        )}
      </Field>
      <Field label={t("windows.task")} wrong={wrong.task} hint={t("windows.task.hint")}>
        {(of) => <textarea {...of} value={draft.task} onChange={(e) => change({ task: e.target.value })} />}
      </Field>
      <Agent chosen={draft.agent} wrong={wrong.agent} onChoose={(agent) => change({ agent })} />
      <Field label={t("windows.encoding")} wrong={wrong.encoding} hint={t("windows.encoding.hint")}>
        {(of) => (
          <select
            {...of}
            value={draft.encoding}
            onChange={(e) => change({ encoding: e.target.value as Draft["encoding"] })}
          >
            {encodings.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      {wrong.other && <Wrong>{wrong.other}</Wrong>}
      <div className={styles.actions}>
        <Button onClick={onClose}>{t("ui.cancel")}</Button>
        <Button type="submit" look="primary" icon="plus" disabled={busy}>
          {busy ? t("ui.working") : t("windows.make")}
        </Button>
      </div>
    </form>
  );
}

type AgentProps = { chosen: string; wrong: string | undefined; onChoose: (hash: string) => void };

function Agent({ chosen, wrong, onChoose }: AgentProps) {
  const { identity } = useSession();
  const id = useId();
  if (!isAdmin(identity)) return null;
  return (
    <div>
      <Picker
        label={t("windows.agent")}
        namespaces={["PLY", "PLU", "PLX"]}
        chosen={chosen ? [chosen] : []}
        most={1}
        hint={t("windows.agent.self")}
        invalid={wrong !== undefined}
        describedBy={id}
        onChoose={([hash = ""]) => onChoose(hash)}
      />
      <div id={id}>
        {wrong && <Wrong>{wrong}</Wrong>}
        <p className={styles.scope}>{t("windows.agent.hint")}</p>
      </div>
    </div>
  );
}
