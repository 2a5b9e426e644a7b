import { Weights } from "../../selection/Weights";
import { textsOf, weightsOf } from "../../selection/weights";
import { part } from "../../ui/format";
import { t } from "../../words";
import type { Draft } from "./Form";
import styles from "./Form.module.css";
import { limits, nameAt, type Side } from "./request";

type Props = { draft: Draft; side: Side; title: string };

/** How much, and how it is weighed, on one side. What the second side leaves open is as on the first. */
export function Settings({ draft, side, title }: Props) {
  const at = (name: string) => nameAt(name, side);
  const value = (name: string, usual: string | number = "") =>
    draft.get(at(name), side === 2 ? draft.get(name, usual) : usual);
  const threshold = value("threshold", limits.threshold.usual);
  const weights = weightsOf(draft.all(at("w")));
  return (
    <fieldset className={styles.group}>
      <legend>{title}</legend>
      <label className={styles.field}>
        <span>
          {t("lab.threshold")} <output>{part(Number(threshold))}</output>
        </span>
        <input
          type="range"
          min={0}
          max={1}
          step={0.05}
          value={threshold}
          onChange={(e) => draft.set(at("threshold"), [e.target.value])}
        />
      </label>
      <div className={styles.pair}>
        <label className={styles.field}>
          <span>{t("lab.limit")}</span>
          <input
            type="number"
            min={limits.limit.least}
            max={limits.limit.most}
            required
            value={value("limit", limits.limit.usual)}
            onChange={(e) => draft.set(at("limit"), [e.target.value])}
          />
        </label>
        <label className={styles.field}>
          <span>{t("lab.budget")}</span>
          <input
            type="number"
            min={1}
            max={limits.budget.most}
            placeholder={t("lab.budget.none")}
            value={value("budget")}
            onChange={(e) => draft.set(at("budget"), [e.target.value])}
          />
        </label>
      </div>
      <details className={styles.more} open={weights.length > 0}>
        <summary>{t("lab.weights", { n: weights.length })}</summary>
        <p className={styles.note}>{t("lab.weights.note")}</p>
        <Weights chosen={weights} onChange={(all) => draft.set(at("w"), textsOf(all))} />
      </details>
    </fieldset>
  );
}
