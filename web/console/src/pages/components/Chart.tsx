import { count, utcDate } from "../../ui/format";
import { t } from "../../words";
import type { Bar } from "./buckets";
import styles from "./Usage.module.css";

/** How often something was named, as bars over time; the table beside it holds the same numbers. */
export function Chart({ bars, label }: { bars: readonly Bar[]; label: string }) {
  const most = Math.max(1, ...bars.map((b) => b.total));
  const width = 100 / Math.max(bars.length, 12); // few bars do not become walls
  return (
    <figure className={styles.figure}>
      <span className={styles.most}>{count(most)}</span>
      <svg className={styles.chart} role="img" aria-label={label}>
        {bars.map((b, i) => (
          <rect
            key={b.start}
            x={`${i * width + width * 0.1}%`}
            width={`${width * 0.8}%`}
            y={`${100 - (100 * b.total) / most}%`}
            height={`${(100 * b.total) / most}%`}
          >
            <title>{t("components.bar", { start: utcDate(b.start), n: b.total })}</title>
          </rect>
        ))}
      </svg>
      <figcaption className={styles.ends}>
        <span>{bars[0] && utcDate(bars[0].start)}</span>
        <span>{bars.length > 1 && utcDate(bars[bars.length - 1]?.start ?? "")}</span>
      </figcaption>
    </figure>
  );
}
