import { useState } from "react";
import { useAction } from "../../actions/useAction";
import { Fields } from "../../filter/Fields";
import styles from "../../filter/Filter.module.css";
import { everything, type Filter } from "../../filter/match";
import { Button } from "../../ui/Button";
import { t } from "../../words";

type Props = { filter: Filter; filtered: boolean; onFilter: (f: Filter) => void };

/** Narrows a conversation down, and leads to a place in it. Narrow screens keep all but the words folded. */
export function FilterBar({ filter, filtered, onFilter }: Props) {
  const [open, setOpen] = useState(false);
  useAction("filter.clear", () => onFilter(everything), { enabled: filtered });
  return (
    <search className={styles.bar} data-folded={!open} aria-label={t("filter.title")}>
      <Fields filter={filter} onFilter={onFilter} />
      <Button icon="selections" className={styles.unfold ?? ""} aria-expanded={open} onClick={() => setOpen(!open)}>
        {t("filter.more")}
      </Button>
      {filtered && (
        <Button look="quiet" icon="close" action="filter.clear">
          {t("filter.clear")}
        </Button>
      )}
      <Button icon="search" className={styles.end ?? ""} action="list.jump">
        {t("thread.jump")}
      </Button>
    </search>
  );
}
