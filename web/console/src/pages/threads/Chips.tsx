import { type ReactElement, useEffect, useRef } from "react";
import { agoOf, type Filter } from "../../filter/match";
import { type ThingName, things } from "../../filter/scope";
import { count } from "../../ui/format";
import only from "../../ui/Heard.module.css";
import { Icon } from "../../ui/icons";
import { NameOf } from "../../ui/Picker";
import { kindName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import styles from "./Chips.module.css";
import { parts, type ThreadFilter } from "./filter";

/** One thing that a filter asks for: what it is, and the filter without it. */
export type Chip = { id: string; label: ReactElement; without: ThreadFilter };

const types: Record<ThingName, string> = {
  player: "Player",
  tag: "Hashtag",
  item: "Item",
  place: "Location",
  flag: "Flag",
};

/** Everything that a filter asks for. */
export function chipsOf(filter: ThreadFilter): Chip[] {
  const { match } = filter;
  const matching = (change: Partial<Filter>) => ({ ...filter, match: { ...match, ...change } });
  const chips: Chip[] = things.flatMap((name) =>
    filter.things[name].map((hash) => ({
      id: `${name} ${hash}`,
      label: <T id="filter.chip" values={{ kind: kindName(types[name]), what: <NameOf hash={hash} /> }} />,
      without: { ...filter, things: { ...filter.things, [name]: filter.things[name].filter((h) => h !== hash) } },
    })),
  );
  for (const name of parts) {
    for (const hash of filter.parts[name]) {
      chips.push({
        id: `${name} ${hash}`,
        label: <T id="filter.chip" values={{ kind: t(`threads.part.${name}`), what: <NameOf hash={hash} /> }} />,
        without: { ...filter, parts: { ...filter.parts, [name]: filter.parts[name].filter((h) => h !== hash) } },
      });
    }
  }
  const add = (id: string, label: ReactElement, change: Partial<Filter>) =>
    chips.push({ id, label, without: matching(change) });
  const named = (kind: "text" | "channel" | "importance", what: string) => (
    <T id="filter.chip" values={{ kind: t(`filter.chip.${kind}`), what: <bdi>{what}</bdi> }} />
  );
  if (match.text !== "") add("text", named("text", match.text), { text: "" });
  for (const c of match.channels)
    add(`channel ${c}`, named("channel", c), { channels: match.channels.filter((other) => other !== c) });
  if (match.importance.length > 0)
    add("importance", named("importance", importanceWords(match.importance)), { importance: [] });
  if (match.since !== "") add("since", <Since moment={match.since} />, { since: "" });
  if (match.until !== "") add("until", <Until moment={match.until} />, { until: "" });
  return chips;
}

function importanceWords(importance: readonly number[]): string {
  const all = importance.toSorted().join();
  if (all === "1,2") return t("filter.relevant");
  return all === "2" ? t("filter.very") : importance.map(count).join(", ");
}

function Since({ moment }: { moment: string }) {
  const ago = agoOf(moment);
  if (ago) return <T id="filter.last" values={{ n: ago.n, unit: ago.unit }} />;
  return <T id="filter.after" values={{ when: <Time at={moment} /> }} />;
}

function Until({ moment }: { moment: string }) {
  const ago = agoOf(moment);
  if (ago) return <T id="filter.older" values={{ n: ago.n, unit: ago.unit }} />;
  return <T id="filter.before" values={{ when: <Time at={moment} /> }} />;
}

type Props = { filter: ThreadFilter; onFilter: (f: ThreadFilter) => void };

/** What is asked for, each to be taken back. The focus goes on to the next one. */
export function Chips({ filter, onFilter }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const removed = useRef<number | null>(null);
  const chips = chipsOf(filter);
  useEffect(() => {
    if (removed.current === null) return;
    const left = list.current?.querySelectorAll("button") ?? [];
    const next = left[Math.min(removed.current, left.length - 1)];
    const field = document.querySelector<HTMLElement>("search input");
    (next ?? field)?.focus();
    removed.current = null;
  });
  if (chips.length === 0) return null;
  return (
    <ul ref={list} className={styles.chips} aria-label={t("threads.chips")}>
      {chips.map(({ id, label, without }, i) => (
        <li key={id}>
          <button
            type="button"
            className={styles.chip}
            onClick={() => {
              removed.current = i;
              onFilter(without);
            }}
          >
            <T
              id="threads.chip.remove"
              values={{ what: <span className={styles.label}>{label}</span> }}
              components={{ hidden: (inside) => <span className={only.heard}>{inside}</span> }}
            />
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}
