import { type RefObject, type SubmitEvent, useEffect, useRef, useState } from "react";
import type { CombinedError } from "urql";
import { describe, fieldError } from "../api/errors";
import { type Id, t } from "../words";

/** What is wrong with a field, in no language yet. */
export type Problem = { id: Id; values?: Record<string, number> };

/** What is wrong, in words: by field, and what is wrong with none of them. */
export type Wrongs<F extends string> = Partial<Record<F | "other", string>>;

type Asked<D, F extends string> = {
  begin: () => D;
  /** Those that the server may name: as its input has them. */
  fields: readonly F[];
  /** What the server would refuse. */
  problems: (draft: D) => Partial<Record<F, Problem>>;
  /** Carries it out, and gives what the server refused; null if nothing. */
  send: (draft: D) => Promise<CombinedError | null>;
};

type Form<D, F extends string> = {
  draft: D;
  wrong: Wrongs<F>;
  busy: boolean;
  /** Where the form is. */
  ref: RefObject<HTMLFormElement | null>;
  change: (part: Partial<D>) => void;
  /** Sends it, unless something is wrong with it that needs no server. */
  submit: (event?: SubmitEvent<HTMLFormElement>) => Promise<void>;
  /** Tells whether nothing is wrong with it, and says what is. */
  check: () => boolean;
};

/**
 * What a form holds and what is wrong with it. Afterwards the focus is on the first field that is wrong; on the button, if none is but
 * the server refused; else on what is marked data-next beside the form.
 */
export function useForm<D extends object, F extends string>({
  begin,
  fields,
  problems,
  send,
}: Asked<D, F>): Form<D, F> {
  const [draft, setDraft] = useState(begin);
  const [wrong, setWrong] = useState<Wrongs<F>>({});
  const [busy, setBusy] = useState(false);
  const [turn, setTurn] = useState(0);
  const ref = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each turn, when all that it changed is there
  useEffect(() => {
    if (turn === 0) return;
    const refused = Object.keys(wrong).length > 0;
    const at = refused
      ? (ref.current?.querySelector<HTMLElement>("[aria-invalid]") ?? ref.current?.querySelector("[type=submit]"))
      : ref.current?.parentElement?.querySelector("[data-next]");
    if (at instanceof HTMLElement) at.focus();
  }, [turn]);
  const finish = (found: Wrongs<F>) => {
    setWrong(found);
    setBusy(false);
    setTurn((n) => n + 1);
  };
  const check = () => {
    const found = Object.entries(problems(draft) as Record<string, Problem>);
    if (found.length > 0) finish(Object.fromEntries(found.map(([f, p]) => [f, t(p.id, p.values)])) as Wrongs<F>);
    return found.length === 0;
  };
  const submit = async (event?: SubmitEvent<HTMLFormElement>) => {
    event?.preventDefault();
    if (busy || !check()) return;
    setBusy(true);
    const error = await send(draft);
    finish(error ? refusal(error, fields) : {});
  };
  const change = (part: Partial<D>) => {
    setDraft((d) => ({ ...d, ...part }));
    setWrong({});
  };
  return { draft, wrong, busy, ref, change, submit, check };
}

// What the server refused, beside the field that it names.
function refusal<F extends string>(error: CombinedError, fields: readonly F[]): Wrongs<F> {
  const { field, detail, code } = fieldError(error);
  const at = fields.find((f) => f === field);
  const said = at ? { [at]: detail } : { other: `${describe(error).detail} (${code})` };
  return said as Wrongs<F>;
}
