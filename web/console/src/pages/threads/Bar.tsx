import { useEffect, useId, useRef, useState } from "react";
import { useAction } from "../../actions/useAction";
import { Fields } from "../../filter/Fields";
import filters from "../../filter/Filter.module.css";
import { namespaces, type ThingName, things } from "../../filter/scope";
import { Button } from "../../ui/Button";
import { Picker } from "../../ui/Picker";
import { t } from "../../words";
import styles from "./Bar.module.css";
import { allThreads, parts, type ThreadFilter } from "./filter";
import { Views } from "./Views";

type Props = {
  filter: ThreadFilter;
  /** The filter as an address; empty if it filters nothing. */
  address: string;
  onFilter: (f: ThreadFilter) => void;
};

/** Narrows the list of threads down. Narrow screens keep all but the words folded. */
export function Bar({ filter, address, onFilter }: Props) {
  const [open, setOpen] = useState(false);
  const wanted = useRef(false);
  const id = useId();
  useAction("filter.more", () => {
    wanted.current = !open;
    setOpen(!open);
  });
  useAction("filter.clear", () => onFilter(allThreads()), { enabled: address !== "" });
  useEffect(() => {
    if (wanted.current) document.getElementById(id)?.querySelector("input")?.focus();
    wanted.current = false;
  });
  const choose = (name: ThingName, hashes: string[]) =>
    onFilter({ ...filter, things: { ...filter.things, [name]: hashes } });
  return (
    <search className={styles.search} data-open={open} aria-label={t("filter.title")}>
      <div className={filters.bar} data-folded={!open}>
        <Fields filter={filter.match} onFilter={(match) => onFilter({ ...filter, match })} />
        <Button icon="selections" action="filter.more" aria-expanded={open} aria-controls={id}>
          {t("filter.more")}
        </Button>
        {address !== "" && (
          <Button look="quiet" icon="close" action="filter.clear">
            {t("filter.clear")}
          </Button>
        )}
        <span className={filters.end}>
          <Views address={address} />
        </span>
      </div>
      <div id={id} className={styles.things} hidden={!open}>
        {open &&
          things.map((name) => (
            <Picker
              key={name}
              label={t(`threads.thing.${name}`)}
              namespaces={[...namespaces[name]]}
              chosen={[...filter.things[name]]}
              onChoose={(hashes) => choose(name, hashes)}
            />
          ))}
        {open &&
          parts.map((name) => (
            <Picker
              key={name}
              label={t(`threads.part.${name}`)}
              namespaces={[...namespaces.player]}
              chosen={[...filter.parts[name]]}
              onChoose={(hashes) => onFilter({ ...filter, parts: { ...filter.parts, [name]: hashes } })}
            />
          ))}
      </div>
    </search>
  );
}
