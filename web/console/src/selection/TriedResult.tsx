import { T, t } from "../words";
import { Asked } from "./Asked";
import { Block } from "./Block";
import { Items, LeftOut } from "./Items";
import styles from "./Kept.module.css";
import { Notices } from "./Notices";
import type { Tried } from "./query";
import { Stages } from "./Stages";
import { Tokens } from "./Tokens";

/** A result that was only tried. title tells it from one beside it. */
export function TriedResult({ tried: r, title }: { tried: Tried; title: string }) {
  return (
    <section className={styles.result} aria-label={title}>
      <div className={styles.summary}>
        <h2>{title}</h2>
        <p className={styles.facts}>
          <span>
            <T id="selection.summary.selected" values={{ n: r.items.length }} />
          </span>
          <span>
            <T id="selection.summary.dropped" values={{ n: r.dropped.length }} />
          </span>
          <span>{t("selection.policy", { version: r.policy.version })}</span>
        </p>
        <Tokens tokens={r.tokens} budget={r.request.tokenBudget} />
        <Notices notices={r.noticeDetails} request={r.request} />
      </div>
      <Stages stages={r.stages} />
      <Items items={r.items} dropped={r.dropped.length} />
      <LeftOut dropped={r.dropped} open={r.items.length === 0} />
      <Block rendered={r.rendered} />
      <Asked request={r.request} policy={r.policy} previous={null} />
    </section>
  );
}
