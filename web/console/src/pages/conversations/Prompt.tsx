import { type SubmitEvent, useState } from "react";
import { useMutation } from "urql";
import { codeOf } from "../../api/errors";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Field } from "../../ui/Field";
import { ErrorScreen } from "../../ui/Screen";
import { T, t } from "../../words";
import { Assembled } from "./Assembled";
import styles from "./Conversations.module.css";
import { type Asked, type Draft, requestOf } from "./prompt";
import { type Memory, PromptMessages } from "./query";

const empty: Draft = {
  input: "",
  rolePrompt: "",
  rules: "",
  budget: "4000",
  context: false,
  query: "",
  threshold: "0.7",
};

/** What a model would be asked if the user said something now. onGone: the server no longer has the conversation. */
export function Prompt({ memory, onGone }: { memory: Memory; onGone: () => void }) {
  const { identity } = useSession();
  const [draft, setDraft] = useState(empty);
  const [missing, setMissing] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [{ data, error, fetching }, ask] = useMutation(PromptMessages);
  const change = (part: Partial<Draft>) => setDraft((d) => ({ ...d, ...part }));
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const lacking = draft.input.trim() === "" || draft.rolePrompt.trim() === "";
    setMissing(lacking);
    if (lacking) return;
    const request = requestOf(memory.id, draft);
    setAsked(request);
    const { error: refused } = await ask(request);
    if (refused && codeOf(refused) === "NOT_FOUND") onGone();
  };
  const needed = (text: string) => (missing && text.trim() === "" ? t("conversations.prompt.needed") : undefined);
  return (
    <section className={styles.part} aria-label={t("conversations.prompt")}>
      <h2>{t("conversations.prompt")}</h2>
      <p className={styles.none}>{t("conversations.prompt.note")}</p>
      <form className={styles.form} onSubmit={submit} noValidate>
        <Field
          label={t("conversations.prompt.input")}
          hint={t("conversations.prompt.input.hint")}
          wrong={needed(draft.input)}
        >
          {(of) => <textarea {...of} value={draft.input} onChange={(e) => change({ input: e.target.value })} />}
        </Field>
        <Field
          label={t("conversations.prompt.role")}
          hint={t("conversations.prompt.role.hint")}
          wrong={needed(draft.rolePrompt)}
        >
          {(of) => (
            <textarea {...of} value={draft.rolePrompt} onChange={(e) => change({ rolePrompt: e.target.value })} />
          )}
        </Field>
        <Field label={t("conversations.prompt.rules")} hint={t("conversations.prompt.rules.hint")}>
          {(of) => <textarea {...of} value={draft.rules} onChange={(e) => change({ rules: e.target.value })} />}
        </Field>
        <div className={styles.fields}>
          <Field label={t("conversations.prompt.budget")} hint={t("conversations.prompt.budget.hint")}>
            {(of) => (
              <input
                {...of}
                type="number"
                min={1}
                max={1_000_000}
                value={draft.budget}
                onChange={(e) => change({ budget: e.target.value })}
              />
            )}
          </Field>
          {has(identity, "context:select") && <Context draft={draft} onChange={change} />}
        </div>
        <div>
          <Button type="submit" look="primary" icon="context" disabled={fetching}>
            {fetching ? t("conversations.prompt.asking") : t("conversations.prompt.ask")}
          </Button>
        </div>
      </form>
      {error && <ErrorScreen error={error} />}
      {data && asked && !error && <Assembled messages={data.promptMessages} asked={asked} memory={memory} />}
    </section>
  );
}

function Context({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  return (
    <>
      <label className={styles.check}>
        <input type="checkbox" checked={draft.context} onChange={(e) => onChange({ context: e.target.checked })} />
        <span>
          {t("conversations.prompt.context")}
          <small>
            <T id="conversations.prompt.context.kept" />
          </small>
        </span>
      </label>
      {draft.context && (
        <>
          <Field label={t("conversations.prompt.query")} hint={t("conversations.prompt.query.hint")}>
            {(of) => <input {...of} value={draft.query} onChange={(e) => onChange({ query: e.target.value })} />}
          </Field>
          <Field label={t("lab.threshold")} hint={t("conversations.prompt.threshold.hint")}>
            {(of) => (
              <input
                {...of}
                type="number"
                min={0}
                max={1}
                step={0.05}
                value={draft.threshold}
                onChange={(e) => onChange({ threshold: e.target.value })}
              />
            )}
          </Field>
        </>
      )}
    </>
  );
}
