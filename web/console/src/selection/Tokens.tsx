import { count } from "../ui/format";
import { T } from "../words";
import styles from "./Tokens.module.css";

/** What the block costs, as a bar against the budget if there was one. */
export function Tokens({ tokens, budget }: { tokens: number; budget: number | null }) {
  if (budget === null) {
    return (
      <p className={styles.none}>
        <T id="selection.budget.none" values={{ n: tokens }} />
      </p>
    );
  }
  return (
    <label className={styles.budget}>
      <span>
        <T id="selection.budget" values={{ n: count(tokens), most: count(budget) }} />
      </span>
      <meter min={0} max={budget} value={tokens} />
    </label>
  );
}
