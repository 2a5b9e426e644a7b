import { useState } from "react";
import { useClient, useMutation } from "urql";
import { Link } from "wouter";
import { Notices } from "../../selection/Notices";
import { Button } from "../../ui/Button";
import { Field, Wrong } from "../../ui/Field";
import { useForm } from "../../ui/useForm";
import { T, t } from "../../words";
import type { PartProps } from "./Body";
import { OperationRow } from "./OperationRow";
import { itemsOf } from "./parts";
import { type Chosen, type Operation, OperationsQuery, SelectIntoWindow } from "./query";
import { Result } from "./Result";
import { begin, fields, inputOf, limits, problems } from "./selectDraft";
import styles from "./Write.module.css";

type Props = PartProps & { onClose: () => void };
type Done = { chosen: Chosen; operation: Operation | null };
const numbers = ["limit", "tokenBudget", "threshold"] as const;

/** Asks for ranked context by hand and puts it into the window, as an agent would, and shows what came in. */
export function Select({ onClose, ...props }: Props) {
  const { window, read, onChanged } = props;
  const client = useClient();
  const [done, setDone] = useState<Done | null>(null);
  const [, select] = useMutation(SelectIntoWindow);
  const { draft, wrong, busy, ref, change, submit } = useForm({
    begin,
    fields,
    problems,
    send: async (d) => {
      setDone(null);
      const { data, error } = await select({ window: window.id, input: inputOf(d) });
      onChanged(); // that it was full is on record, too
      if (!data) return error ?? null;
      const chosen = data.selectIntoWindow;
      const asked = { id: window.id, after: null, count: false, read };
      const history = await client.query(OperationsQuery, asked).toPromise();
      const operations = history.data?.window?.operations.edges.map((e) => e.node) ?? [];
      setDone({ chosen, operation: operations.find((o) => o.selection?.id === chosen.id) ?? null });
      return null;
    },
  });
  return (
    <div className={styles.body}>
      <form ref={ref} className={styles.form} onSubmit={(e) => void submit(e)} noValidate>
        <p className={styles.note}>{t("windows.select.means")}</p>
        <Field
          label={t("windows.select.query")}
          wrong={wrong.query}
          hint={t("windows.select.query.hint", { most: limits.query })}
        >
          {(of) => <textarea {...of} value={draft.query} onChange={(e) => change({ query: e.target.value })} />}
        </Field>
        {numbers.map((name) => (
          <Field
            key={name}
            label={t(`windows.select.${name}`)}
            wrong={wrong[name]}
            hint={t(`windows.select.${name}.hint`, { left: window.capacity - window.used, ...limits[name] })}
          >
            {(of) => (
              <input
                {...of}
                type="number"
                min={limits[name].least}
                max={limits[name].most}
                step={name === "threshold" ? 0.05 : 1}
                value={draft[name]}
                onChange={(e) => change({ [name]: e.target.value })}
              />
            )}
          </Field>
        ))}
        {wrong.other && <Wrong>{wrong.other}</Wrong>}
        <div className={styles.actions}>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" look="primary" icon="context" disabled={busy}>
            {busy ? t("ui.working") : t("windows.select.do")}
          </Button>
        </div>
      </form>
      <div role="status">{done && <Came of={done} {...props} />}</div>
    </div>
  );
}

// What is there already, or contradicts a verified record, was selected and did not come in.
function Came({ of: { chosen, operation }, ...props }: PartProps & { of: Done }) {
  const entered = operation?.entered.length ?? 0;
  return (
    <div className={styles.came} data-next tabIndex={-1}>
      <Result fine={entered > 0}>{t("windows.select.came", { n: entered, of: chosen.items.length })}</Result>
      <Notices notices={chosen.noticeDetails} request={chosen.request} />
      <p>
        <T
          id="windows.select.receipt"
          components={{
            link: (inside) => <Link href={`/selections/${encodeURIComponent(chosen.id)}`}>{inside}</Link>,
          }}
        />
      </p>
      {operation && <OperationRow {...props} operation={operation} items={itemsOf(props.window)} />}
    </div>
  );
}
