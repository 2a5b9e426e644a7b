import { useState } from "react";
import { part } from "../../ui/format";
import { T, t } from "../../words";
import { Found } from "./Entries";
import styles from "./Operation.module.css";
import type { Compression, Item, WholeWindow } from "./query";
import { Text } from "./Text";

type Props = { of: Compression; window: WholeWindow; items: ReadonlyMap<string, Item> };
type Step = Compression["steps"][number];

/** What a compression did, step by step: what each freed, and what left beside the summary that took its place. */
export function Compressed({ of: c, window, items }: Props) {
  return (
    <div className={styles.part}>
      <h3>{t("windows.compression")}</h3>
      <p>
        {t("windows.compression.sum", {
          before: c.tokensBefore,
          after: c.tokensAfter,
          ratio: part(c.ratio),
          ms: c.tookMs,
        })}
      </p>
      <ol className={styles.steps}>
        {c.steps.map((s, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a compression does not change, and may take a step twice
          <li key={i} data-step={s.strategy}>
            <OneStep step={s} window={window} items={items} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function OneStep({ step: s, window, items }: { step: Step } & Omit<Props, "of">) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <p>
        <b>{t(`windows.strategy.${s.strategy}`)}</b>{" "}
        {s.freed < 0 ? t("windows.step.cost", { n: -s.freed }) : t("windows.step.freed", { n: s.freed })}
        {s.by && (
          <>
            {", "}
            {t("windows.step.by", { by: s.by === "extractive" ? t("windows.by.extractive") : s.by })}
          </>
        )}
      </p>
      <p className={styles.note}>{t(`windows.strategy.why.${s.strategy}`)}</p>
      {s.fallback && (
        <p className={styles.note}>
          <T id="windows.fallback" values={{ why: <q lang="en">{s.fallback}</q> }} />
        </p>
      )}
      {s.items.length > 0 && (
        <details className={styles.details} onToggle={(e) => setOpen(e.currentTarget.open)}>
          <summary>{t("windows.step.compare", { n: s.items.length })}</summary>
          {open && (
            <div className={styles.pair}>
              <div>
                <h4>{t("windows.step.before")}</h4>
                <Found window={window} ids={s.items} label={t("windows.step.before")} />
              </div>
              <div>
                <h4>{t("windows.step.after")}</h4>
                <Summary id={s.summary} window={window} items={items} />
              </div>
            </div>
          )}
        </details>
      )}
    </>
  );
}

// A summary is in the window, or has since left for the scratchpad under the same id.
function Summary({ id, window, items }: { id: string | null } & Omit<Props, "of">) {
  if (id === null) return <p className={styles.note}>{t("windows.step.none")}</p>;
  const here = items.get(id);
  if (!here) return <Found window={window} ids={[id]} label={t("windows.step.after")} />;
  return (
    <>
      <p className={styles.note}>{t("windows.tokens.n", { n: here.tokens })}</p>
      <Text of={here.content} />
    </>
  );
}
