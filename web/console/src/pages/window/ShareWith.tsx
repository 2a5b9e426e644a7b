import { useCallback, useId } from "react";
import { useClient, useMutation } from "urql";
import { Link } from "wouter";
import { usePages } from "../../api/pages";
import { ask, pageOf } from "../../api/query";
import { Button } from "../../ui/Button";
import { Field, Wrong } from "../../ui/Field";
import { nameOf } from "../../ui/format";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { useForm } from "../../ui/useForm";
import { T, t } from "../../words";
import type { PartProps } from "./Body";
import { CreateSegment, OthersQuery, type WholeWindow } from "./query";
import own from "./Shared.module.css";
import { begin, fields, limits, problems } from "./shareDraft";
import styles from "./Write.module.css";

type Props = PartProps & { onMade: (segment: string) => void; onClose: () => void };

/** Makes a segment that this window and others see. Something is written into it next. */
export function ShareWith({ window, onMade, onClose }: Props) {
  const [, create] = useMutation(CreateSegment);
  const { draft, wrong, busy, ref, change, submit } = useForm({
    begin,
    fields,
    problems,
    send: async ({ name, windows }) => {
      const { data, error } = await create({ name, windows: [window.id, ...windows] });
      if (data) onMade(data.createSegment.id);
      return error ?? null;
    },
  });
  return (
    <div className={styles.body}>
      <form ref={ref} className={styles.form} onSubmit={(e) => void submit(e)} noValidate>
        <p className={styles.note}>{t("windows.share.means")}</p>
        <Field
          label={t("table.head.name")}
          wrong={wrong.name}
          hint={t("windows.share.name.hint", { most: limits.name })}
        >
          {(of) => <input {...of} value={draft.name} onChange={(e) => change({ name: e.target.value })} />}
        </Field>
        <Others
          window={window}
          chosen={draft.windows}
          wrong={wrong.windows}
          onChoose={(windows) => change({ windows })}
        />
        {wrong.other && <Wrong>{wrong.other}</Wrong>}
        <div className={styles.actions}>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" look="primary" icon="components" disabled={busy}>
            {busy ? t("ui.working") : t("windows.share.do")}
          </Button>
        </div>
      </form>
    </div>
  );
}

type OthersProps = {
  window: WholeWindow;
  chosen: readonly string[];
  wrong: string | undefined;
  onChoose: (windows: string[]) => void;
};

// The windows that it can share with: those that count in another encoding are refused, and not offered.
function Others({ window, chosen, wrong, onChoose }: OthersProps) {
  const client = useClient();
  const id = useId();
  const pages = usePages(
    useCallback(async (after: string | null) => pageOf((await ask(client, OthersQuery, { after })).windows), [client]),
  );
  const others = pages.items.filter((w) => w.id !== window.id && w.encoding === window.encoding);
  const toggle = (of: string) => onChoose(chosen.includes(of) ? chosen.filter((w) => w !== of) : [...chosen, of]);
  return (
    <fieldset className={own.others} aria-describedby={id}>
      <legend>{t("windows.share.with")}</legend>
      {others.length > 0 && (
        <ul>
          {others.map((w) => (
            <li key={w.id}>
              <label>
                <input
                  type="checkbox"
                  aria-invalid={wrong ? true : undefined}
                  checked={chosen.includes(w.id)}
                  onChange={() => toggle(w.id)}
                />
                <span>
                  <bdi>{w.name}</bdi> {w.agent && <small>{nameOf(w.agent)}</small>}
                </span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {pages.error ? (
        <ErrorScreen error={pages.error} retry={() => void pages.more()} />
      ) : pages.loading ? (
        <Loading what={t("windows.share.loading")} />
      ) : (
        others.length === 0 &&
        !pages.hasMore && (
          <p className={styles.note}>
            <T
              id="windows.share.none"
              values={{ encoding: <code>{window.encoding}</code> }}
              components={{ link: (inside) => <Link href="/windows?new=">{inside}</Link> }}
            />
          </p>
        )
      )}
      {pages.hasMore && !pages.loading && (
        <div>
          <Button onClick={() => void pages.more()}>{t("windows.share.more")}</Button>
        </div>
      )}
      <div id={id}>
        {wrong && <Wrong>{wrong}</Wrong>}
        <p className={styles.note}>{t("windows.share.with.hint", { most: limits.windows - 1 })}</p>
      </div>
    </fieldset>
  );
}
