import { type KeyboardEvent, type MouseEvent, memo, useMemo, useState } from "react";
import { dateTime } from "../../ui/format";
import { t, useLanguage } from "../../words";
import type { Mark } from "./query";
import styles from "./Scrubber.module.css";

type Props = {
  marks: readonly Mark[];
  /** How many marks there are, though not all were told. */
  count: number;
  total: number;
  /** Positions of the first and the last row in view, from 0. */
  first: number;
  last: number;
  onGo: (position: number) => void;
};

const height = 1000; // units of the drawing
const lanes = { SESSION: [0, 24], ERROR: [0, 12], IMPORTANT: [12, 12] } as const;
const kinds = ["SESSION", "IMPORTANT", "ERROR"] as const;
const reach = 8; // pixels from a mark within which a click means it

/**
 * Beside the scroll bar, what stands out in the whole conversation: lines where sessions begin, errors to the left,
 * important messages to the right. One drawing, whatever their number.
 */
export const Scrubber = memo(function Scrubber({ marks, count, total, first, last, onGo }: Props) {
  useLanguage();
  const [near, setNear] = useState<{ mark: Mark; y: number } | null>(null);
  const paths = useMemo(() => kinds.map((kind) => ({ kind, d: drawn(marks, kind, total) })), [marks, total]);
  const at = (event: MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const y = event.clientY - box.top;
    const position = Math.min(total - 1, Math.max(0, Math.floor((y / box.height) * total)));
    const mark = nearest(marks, position);
    const close = mark && Math.abs(mark.position - position) <= (reach / box.height) * total;
    return { position: close ? mark.position : position, mark: close ? mark : null, y };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = Math.max(1, Math.round(total / 20));
    const keys: Record<string, () => number | undefined> = {
      ArrowDown: () => marks.find((m) => m.position > first)?.position,
      ArrowUp: () => marks.findLast((m) => m.position < first)?.position,
      PageDown: () => Math.min(total - 1, first + step),
      PageUp: () => Math.max(0, first - step),
      Home: () => 0,
      End: () => total - 1,
    };
    const to = keys[event.key];
    if (!to || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const position = to();
    if (position !== undefined) onGo(position);
  };
  const capped = marks.length < count ? t("thread.scrub.capped", { shown: marks.length, count }) : undefined;
  const here = marks.find((m) => m.position === first);
  return (
    <div
      className={styles.scrubber}
      role="slider"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t("thread.scrub")}
      aria-description={capped}
      title={capped}
      aria-valuemin={1}
      aria-valuemax={total}
      aria-valuenow={first + 1}
      aria-valuetext={t(here ? `thread.scrub.at.${here.kind}` : "thread.scrub.at", { n: first + 1, total })}
      onClick={(e) => onGo(at(e).position)}
      onMouseMove={(e) => {
        const { mark, y } = at(e);
        setNear(mark && { mark, y });
      }}
      onMouseLeave={() => setNear(null)}
      onKeyDown={onKeyDown}
    >
      <svg viewBox={`0 0 24 ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <rect
          className={styles.view}
          x={0}
          width={24}
          y={(first / total) * height}
          height={Math.max(4, ((last - first + 1) / total) * height)}
        />
        {paths.map(({ kind, d }) => (
          <path key={kind} data-kind={kind} d={d} />
        ))}
      </svg>
      {near && (
        <span className={styles.near} style={{ top: near.y }}>
          {t(`thread.scrub.mark.${near.mark.kind}`, { n: near.mark.position + 1, when: dateTime(near.mark.createdAt) })}
        </span>
      )}
    </div>
  );
});

// All marks of a kind as one path.
function drawn(marks: readonly Mark[], kind: Mark["kind"], total: number): string {
  const [x, width] = lanes[kind];
  const tall = kind === "SESSION" ? 2 : 5;
  return marks
    .filter((m) => m.kind === kind)
    .map((m) => `M${x} ${((m.position / Math.max(1, total)) * (height - tall)).toFixed(1)}h${width}v${tall}h${-width}z`)
    .join("");
}

function nearest(marks: readonly Mark[], position: number): Mark | undefined {
  let best: Mark | undefined;
  for (const m of marks) if (!best || Math.abs(m.position - position) < Math.abs(best.position - position)) best = m;
  return best;
}
