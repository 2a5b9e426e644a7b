import { Fields } from "../../filter/Fields";
import styles from "../../filter/Filter.module.css";
import { everything, type Filter } from "../../filter/match";
import { Button } from "../../ui/Button";
import { t } from "../../words";

type Props = { filter: Filter; filtered: boolean; onFilter: (f: Filter) => void; onJump: () => void };

/** Narrows a conversation down, and leads to a place in it. */
export function FilterBar({ filter, filtered, onFilter, onJump }: Props) {
  return (
    <search className={styles.bar} aria-label={t("filter.title")}>
      <Fields filter={filter} onFilter={onFilter} />
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
