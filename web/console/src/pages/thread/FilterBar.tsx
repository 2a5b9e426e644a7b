import { useState } from "react";
import { Fields } from "../../filter/Fields";
import styles from "../../filter/Filter.module.css";
import { everything, type Filter } from "../../filter/match";
import { Button } from "../../ui/Button";
import { t } from "../../words";

type Props = { filter: Filter; filtered: boolean; onFilter: (f: Filter) => void; onJump: () => void };

/** Narrows a conversation down, and leads to a place in it. Narrow screens keep all but the words folded. */
export function FilterBar({ filter, filtered, onFilter, onJump }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <search className={styles.bar} data-folded={!open} aria-label={t("filter.title")}>
      <Fields filter={filter} onFilter={onFilter} />
      <Button icon="selections" className={styles.unfold ?? ""} aria-expanded={open} onClick={() => setOpen(!open)}>
        {t("filter.more")}
      </Button>
      {filtered && (
        <Button look="quiet" icon="close" onClick={() => onFilter(everything)}>
          {t("filter.clear")}
        </Button>
      )}
      <Button icon="search" className={styles.end ?? ""} onClick={onJump}>
        {t("thread.jump")}
      </Button>
    </search>
  );
}
