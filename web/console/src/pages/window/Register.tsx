import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../../ui/Button";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { Field, Wrong } from "../../ui/Field";
import { useForm } from "../../ui/useForm";
import { T, t } from "../../words";
import type { PartProps } from "./Body";
import { RegisterTools, type Tool } from "./query";
import { Result } from "./Result";
import { Text } from "./Text";
import { begin, fields, inputOf, limits, problems } from "./toolDraft";
import styles from "./Write.module.css";

type Props = PartProps & { onClose: () => void };
type Done = Pick<Tool, "name" | "tokens" | "shown">;

/** Registers a tool by hand, as an agent would. What leaves for it, one of the same name or all others, is asked about first. */
export function Register({ window, onChanged, onClose }: Props) {
  const [done, setDone] = useState<Done | null>(null);
  const [replacing, setReplacing] = useState(false);
  const [, register] = useMutation(RegisterTools);
  const { draft, wrong, busy, ref, change, submit, check } = useForm({
    begin,
    fields,
    problems,
    send: async (d) => {
      setDone(null);
      const { data, error } = await register({ window: window.id, tools: [inputOf(d)], replace: d.only });
      onChanged(); // what did not fit is on record, too
      if (error) return error;
      setDone(data?.registerTools[0] ?? null);
      change(begin());
      return null;
    },
  });
  const there = window.tools.find((tool) => tool.name === draft.name);
  const others = window.tools.filter((tool) => tool !== there);
  const only = draft.only && others.length > 0;
  const last = !there && !only && window.tools.length === limits.described; // with one more, none is described
  const replace = async () => {
    await submit();
    return null; // what is wrong is said in the form
  };
  return (
    <div className={styles.body}>
      <form
        ref={ref}
        className={styles.form}
        onSubmit={(e) => {
          if (!there && !only) return void submit(e);
          e.preventDefault();
          if (check()) setReplacing(true);
        }}
        noValidate
      >
        <p className={styles.note}>{t("windows.register.means")}</p>
        <Field
          label={t("table.head.name")}
          wrong={wrong.name}
          hint={there ? t("windows.register.there") : t("windows.register.name", { most: limits.name })}
        >
          {(of) => (
            <input
              {...of}
              data-next
              value={draft.name}
              spellCheck={false}
              autoComplete="off"
              onChange={(e) => change({ name: e.target.value })}
            />
          )}
        </Field>
        <Field
          label={t("table.head.description")}
          wrong={wrong.description}
          hint={t("windows.register.description", { most: limits.description })}
        >
          {(of) => (
            <textarea {...of} value={draft.description} onChange={(e) => change({ description: e.target.value })} />
          )}
        </Field>
        <Field
          label={t("windows.tools.schema")}
          wrong={wrong.schema}
          hint={<T id="windows.register.schema" values={{ most: limits.schema }} />}
        >
          {(of) => (
            <textarea
              {...of}
              className={styles.code ?? ""}
              value={draft.schema}
              rows={8}
              spellCheck={false}
              onChange={(e) => change({ schema: e.target.value })}
            />
          )}
        </Field>
        {others.length > 0 && (
          <label className={styles.check}>
            <input type="checkbox" checked={draft.only} onChange={(e) => change({ only: e.target.checked })} />
            <span>
              {t("windows.register.only")}
              <small>{t("windows.register.only.detail", { n: others.length })}</small>
            </span>
          </label>
        )}
        {last && <p className={styles.note}>{t("windows.register.last", { most: limits.described })}</p>}
        {wrong.other && <Wrong>{wrong.other}</Wrong>}
        <div className={styles.actions}>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" look="primary" icon="tool" disabled={busy}>
            {busy ? t("ui.working") : t("windows.register.do")}
          </Button>
        </div>
      </form>
      <div role="status">
        {done && (
          <div className={styles.came}>
            <Result fine>
              <span>
                {done.shown ? (
                  <T id="windows.register.shown" values={{ name: <code>{done.name}</code>, n: done.tokens }} />
                ) : (
                  <T id="windows.register.aside" values={{ name: <code>{done.name}</code>, most: limits.described }} />
                )}
              </span>
            </Result>
          </div>
        )}
      </div>
      {replacing && (there || only) && (
        <ConfirmDialog
          title={t(only ? "windows.replace.all.title" : "windows.replace.title")}
          icon="tool"
          confirm={t(only ? "windows.replace.all.confirm" : "windows.replace.confirm")}
          onConfirm={replace}
          onClose={() => setReplacing(false)}
        >
          {there && (
            <p>
              <T id="windows.replace.means" values={{ name: <code>{there.name}</code> }} />
            </p>
          )}
          {there && there.description !== "" && <Text of={there.description} />}
          {only && <p>{t("windows.replace.all.means", { n: others.length })}</p>}
          {only && <Text of={others.map((tool) => tool.name).join("\n")} />}
        </ConfirmDialog>
      )}
    </div>
  );
}
