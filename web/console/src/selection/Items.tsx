import { useState } from "react";
import { count, precise, short } from "../ui/format";
import { Screen } from "../ui/Screen";
import { useAddress } from "../ui/useAddress";
import { t } from "../words";
import styles from "./Items.module.css";
import type { Dropped, Selected } from "./query";
import { Score } from "./Score";
import { SourceHead, SourceText } from "./SourceHead";

/** What was selected, the best first, each with the parts of its score. */
export function Items({ items, dropped }: { items: readonly Selected[]; dropped: number }) {
  if (items.length === 0) {
    return (
      <Screen icon="empty" title={t("selection.none")}>
        {dropped > 0 ? t("selection.none.dropped", { n: dropped }) : t("selection.none.found")}
      </Screen>
    );
  }
  return (
    <ol className={styles.items} aria-label={t("selection.items")}>
      {items.map((item) => (
        <Item key={item.position} item={item} />
      ))}
    </ol>
  );
}

function Item({ item }: { item: Selected }) {
  const terms = item.explanation.matchedTerms;
  return (
    <li className={styles.item}>
      <span className={styles.position}>{count(item.position)}</span>
      <div className={styles.inside}>
        <SourceHead hash={item.hash} source={item.source}>
          <span className={styles.cost}>{t("selection.tokens", { n: item.tokens })}</span>
        </SourceHead>
        <p className={styles.text} dir="auto">
          <SourceText source={item.source} terms={terms} />
        </p>
        <Score score={item.score} explanation={item.explanation} />
        {terms.length > 0 && <p className={styles.terms}>{t("selection.matched", { terms: terms.join(", ") })}</p>}
      </div>
    </li>
  );
}

const first = 50; // how many are drawn before somebody asks for the rest

type LeftOutProps = {
  dropped: readonly Dropped[];
  open: boolean;
  /** Whether the page answers why not: of what was dropped, the parts of the score are not kept, but worked out again there. */
  explained?: boolean;
};

/** What ranked within reach and was left out, each with its fate. */
export function LeftOut({ dropped, open, explained }: LeftOutProps) {
  const [all, setAll] = useState(false);
  if (dropped.length === 0) return null;
  const shown = all ? dropped : dropped.slice(0, first);
  return (
    <details className={styles.more} open={open}>
      <summary>
        <h2>{t("selection.dropped", { n: dropped.length })}</h2>
      </summary>
      <ol className={styles.dropped}>
        {shown.map((d) => (
          <li key={d.hash}>
            <SourceHead hash={d.hash} source={d.source}>
              <span className={styles.reason}>{t(`selection.reason.${d.reason}`)}</span>
            </SourceHead>
            <p className={styles.snippet} dir="auto">
              <SourceText source={d.source} terms={[]} />
            </p>
            <span className={styles.cost}>
              {t("selection.dropped.score", { score: precise(d.score), n: d.tokens })}
            </span>
            {explained && <Why hash={d.hash} />}
          </li>
        ))}
      </ol>
      {shown.length < dropped.length && (
        <button type="button" className={styles.rest} onClick={() => setAll(true)}>
          {t("selection.dropped.rest", { n: dropped.length - shown.length })}
        </button>
      )}
    </details>
  );
}

function Why({ hash }: { hash: string }) {
  const [, set] = useAddress();
  return (
    <button
      type="button"
      className={styles.rest}
      aria-label={t("selection.dropped.why.of", { hash: short(hash) })}
      onClick={() => set({ why: hash })}
    >
      {t("selection.dropped.why")}
    </button>
  );
}
