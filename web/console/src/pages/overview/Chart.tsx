import type uPlot from "uplot";
import { count } from "../../ui/format";
import { axisOf, usePlot } from "../../ui/plot/usePlot";
import { locale } from "../../words";
import styles from "./OverviewPage.module.css";
import { reach } from "./samples";

type Props = { times: readonly number[]; values: readonly (number | null)[]; kind: "appends" | "lag" };

const height = 150; // pixels, as the style sheet has it

/** A line over the last minutes. Drawn on a canvas: whoever cannot see it reads the table beside. */
export default function Chart({ times, values, kind }: Props) {
  const box = usePlot(optionsOf, [times.map((at) => at / 1000), [...values]]);
  return <div ref={box} className={styles.chart} data-kind={kind} aria-hidden="true" />;
}

function optionsOf(frame: HTMLElement): uPlot.Options {
  const { color: line, borderTopColor: grid } = getComputedStyle(frame);
  const axis = axisOf(frame);
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
