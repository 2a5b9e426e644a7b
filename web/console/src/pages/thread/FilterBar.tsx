import { Button } from "../../ui/Button";
import { SearchBox } from "../../ui/SearchBox";
import { t } from "../../words";
import styles from "./FilterBar.module.css";
import { everything, type Filter } from "./filter";

type Props = { filter: Filter; filtered: boolean; onFilter: (f: Filter) => void; onJump: () => void };

const spans = ["", "-1h", "-24h", "-7d", "-30d"] as const;
const words = {
  "": "thread.filter.always",
  "-1h": "thread.filter.hour",
  "-24h": "thread.filter.day",
  "-7d": "thread.filter.week",
  "-30d": "thread.filter.month",
} as const;

/** Narrows a conversation down, and leads to a place in it. */
export function FilterBar({ filter, filtered, onFilter, onJump }: Props) {
  const set = (change: Partial<Filter>) => onFilter({ ...filter, ...change });
  const least = filter.importance.length === 0 ? 0 : Math.min(...filter.importance);
  const span = spans.find((s) => s === filter.since && filter.until === "");
  return (
    <search className={styles.bar} aria-label={t("thread.filter")}>
      <SearchBox value={filter.text} label={t("thread.filter.text")} onSearch={(text) => set({ text })} />
      <SearchBox
        value={filter.channels.join(", ")}
        label={t("thread.filter.channels")}
        onSearch={(text) => set({ channels: listed(text) })}
      />
      <select
        aria-label={t("thread.filter.importance")}
        value={least}
        onChange={(e) =>
          set({ importance: e.target.value === "0" ? [] : [1, 2].filter((n) => n >= Number(e.target.value)) })
        }
      >
        <option value={0}>{t("thread.filter.any")}</option>
        <option value={1}>{t("thread.filter.relevant")}</option>
        <option value={2}>{t("thread.filter.very")}</option>
      </select>
      <select
        aria-label={t("thread.filter.time")}
        value={span ?? "own"}
        onChange={(e) => set({ since: e.target.value === "own" ? today() : e.target.value, until: "" })}
      >
        {spans.map((s) => (
          <option key={s} value={s}>
            {t(words[s])}
          </option>
        ))}
        <option value="own">{t("thread.filter.own")}</option>
      </select>
      {span === undefined && (
        <span className={styles.own}>
          <DayField label={t("thread.filter.since")} value={filter.since} onDay={(since) => set({ since })} />
          <DayField label={t("thread.filter.until")} value={filter.until} onDay={(until) => set({ until })} />
        </span>
      )}
      {filtered && (
        <Button look="quiet" icon="close" onClick={() => onFilter(everything)}>
          {t("thread.filter.clear")}
        </Button>
      )}
      <Button icon="search" className={styles.jump ?? ""} onClick={onJump}>
        {t("thread.jump")}
      </Button>
    </search>
  );
}

function DayField({ label, value, onDay }: { label: string; value: string; onDay: (moment: string) => void }) {
  return (
    <label>
      {label}{" "}
      <input
        type="datetime-local"
        value={local(value)}
        onChange={(e) => onDay(e.target.value && new Date(e.target.value).toISOString())}
      />
    </label>
  );
}

const listed = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((c) => c.trim())
      .filter((c) => c !== ""),
  ),
];

function today(): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}

// A moment as the field wants it: in the reader's time zone, without seconds.
function local(moment: string): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
