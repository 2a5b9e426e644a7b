import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useShownTheme } from "../../app/theme";
import { count } from "../../ui/format";
import { locale, useLanguage } from "../../words";
import styles from "./OverviewPage.module.css";
import { reach } from "./samples";

type Props = { times: readonly number[]; values: readonly (number | null)[]; kind: "appends" | "lag" };

const height = 150; // pixels, as the style sheet has it

/** A line over the last minutes. Drawn on a canvas: whoever cannot see it reads the table beside. */
export default function Chart({ times, values, kind }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useShownTheme();
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme or language draws it anew
  useEffect(() => {
    const frame = box.current;
    if (!frame) return;
    plot.current = new uPlot(optionsOf(frame), [[], []], frame);
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: frame.clientWidth, height }));
    sized.observe(frame);
    return () => {
      sized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [theme, language]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: one that was drawn anew gets its data again
  useEffect(() => {
    plot.current?.setData([times.map((at) => at / 1000), [...values]]);
  }, [times, values, theme, language]);
  return <div ref={box} className={styles.chart} data-kind={kind} aria-hidden="true" />;
}

// A canvas knows no light-dark(): the colours are those that elements of the page came to have.
function optionsOf(frame: HTMLElement): uPlot.Options {
  const { color: line, borderTopColor: grid } = getComputedStyle(frame);
  const text = getComputedStyle(frame.closest("figure") ?? frame).color;
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const clock = new Intl.DateTimeFormat(locale(), { timeStyle: "medium" });
  return {
    width: frame.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 28, 0, 0],
    scales: {
      x: { range: (_, __, max) => [(max ?? 0) - reach / 1000, max ?? 0] },
      y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.1)] },
    },
    axes: [
      { ...axis, size: 28, space: 64, values: (_, at) => at.map((s) => clock.format(s * 1000)) },
      { ...axis, size: 48, values: (_, at) => at.map((n) => count(n)) },
    ],
    series: [{}, { stroke: line, width: 2, fill: grid, points: { show: (u) => u.data[0].length < 2 } }],
  };
}
