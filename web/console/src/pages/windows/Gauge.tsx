import { count, percent } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { T, t } from "../../words";
import styles from "./Gauge.module.css";
import { looks, thresholds } from "./level";
import type { Level } from "./query";

type Props = { used: number; capacity: number; usage: number; level: Level; large?: boolean };

/** How full a window is: in words, and as a bar with a mark at each level. large: with what each mark is. */
export function Gauge({ used, capacity, usage, level, large = false }: Props) {
  const { tone, icon } = looks[level];
  const words = t(`windows.level.${level}`);
  return (
    <div className={styles.gauge} data-tone={tone} data-large={large}>
      <p className={styles.words}>
        <span className={styles.level}>
          <Icon name={icon} size={14} />
          {words}
        </span>
        <span>
          <T
            id="windows.fill"
            values={{ used: count(used), capacity: count(capacity), share: <b>{percent(usage)}</b> }}
          />
        </span>
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a meter of its own cannot be drawn with marks */}
      <div
        className={styles.bar}
        role="meter"
        aria-label={t("windows.gauge")}
        aria-valuemin={0}
        aria-valuemax={capacity}
        aria-valuenow={used}
        aria-valuetext={t("windows.gauge.text", { share: percent(usage), level: words })}
      >
        <span style={{ width: `${Math.min(100, usage * 100)}%` }} />
        {thresholds.map((at) => (
          <i key={at} style={{ left: `${at * 100}%` }} />
        ))}
      </div>
      {large && <p className={styles.note}>{t(`windows.level.why.${level}`)}</p>}
    </div>
  );
}
