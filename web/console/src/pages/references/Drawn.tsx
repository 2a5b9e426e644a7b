import { useMemo } from "react";
import type { CombinedError } from "urql";
import { words } from "../../api/errors";
import { t } from "../../words";
import Graph from "./Graph";
import { networkOf } from "./network";
import type { Around, Cited, Referring } from "./query";
import styles from "./References.module.css";

type Props = {
  message: Referring;
  cited: readonly Cited[];
  citedCount: number;
  around: Around | null;
  /** Why it is not known what is a step further. */
  failed: CombinedError | null;
};

/** The graph, and of how much it is; with the library that puts it in order. */
export default function Drawn({ message, cited, citedCount, around, failed }: Props) {
  const network = useMemo(() => networkOf(message, cited, citedCount, around), [message, cited, citedCount, around]);
  const { linked, drawn, further, more } = network;
  const capped = drawn < linked ? t("references.capped", { shown: drawn, all: linked }) : "";
  const note = [
    capped || t("references.whole", { all: linked }),
    t("references.further", { n: further, more: String(more) }),
  ];
  return (
    <>
      {failed && (
        <p className={styles.problem} role="alert">
          {t("references.further.failed", { why: words(failed) })}
        </p>
      )}
      <Graph network={network} note={note.join(" ")} />
    </>
  );
}
