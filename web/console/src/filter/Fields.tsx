import { SearchBox } from "../ui/SearchBox";
import { t } from "../words";
import { Channels } from "./Channels";
import styles from "./Filter.module.css";
import { agoOf, type Filter } from "./match";

type Props = { filter: Filter; onFilter: (f: Filter) => void };

const spans = ["-1h", "-24h", "-7d", "-30d"];

/** The fields that narrow messages down: their words, channels, importance and time. */
export function Fields({ filter, onFilter }: Props) {
  const set = (change: Partial<Filter>) => onFilter({ ...filter, ...change });
  const least = filter.importance.length === 0 ? 0 : Math.min(...filter.importance);
  return (
    <>
      <SearchBox value={filter.text} label={t("filter.text")} onSearch={(text) => set({ text })} />
      <div className={styles.more}>
        <Channels chosen={filter.channels} onChoose={(channels) => set({ channels })} />
        <select
          aria-label={t("filter.importance")}
          value={least}
          onChange={(e) =>
            set({ importance: e.target.value === "0" ? [] : [1, 2].filter((n) => n >= Number(e.target.value)) })
          }
        >
          <option value={0}>{t("filter.any")}</option>
          <option value={1}>{t("filter.relevant")}</option>
          <option value={2}>{t("filter.very")}</option>
        </select>
        <TimeFields filter={filter} set={set} />
      </div>
    </>
  );
}

function TimeFields({ filter: { since, until }, set }: { filter: Filter; set: (change: Partial<Filter>) => void }) {
  // An address may say another time than those that are offered: it is one of them then.
  const offered = agoOf(since) && !spans.includes(since) ? [...spans, since] : spans;
  const span = until !== "" ? undefined : since === "" ? "" : offered.find((s) => s === since);
  return (
    <>
      <select
        aria-label={t("filter.time")}
        value={span ?? "own"}
        onChange={(e) => set({ since: e.target.value === "own" ? today() : e.target.value, until: "" })}
      >
        <option value="">{t("filter.always")}</option>
        {offered.map((s) => {
          const { n, unit } = agoOf(s) ?? { n: 0, unit: "d" };
          return (
            <option key={s} value={s}>
              {t("filter.last", { n, unit })}
            </option>
          );
        })}
        <option value="own">{t("filter.own")}</option>
      </select>
      {span === undefined && (
        <span className={styles.own}>
          <DayField label={t("filter.since")} value={since} onDay={(moment) => set({ since: moment })} />
          <DayField label={t("filter.until")} value={until} onDay={(moment) => set({ until: moment })} />
        </span>
      )}
    </>
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
