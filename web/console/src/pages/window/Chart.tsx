import { useMemo } from "react";
import type uPlot from "uplot";
import { count, percent } from "../../ui/format";
import { axisOf, usePlot } from "../../ui/plot/usePlot";
import { thresholds } from "../windows/level";
import type { Point } from "./fill";
import styles from "./History.module.css";

const height = 220; // pixels, as the style sheet has it

/** How full a window was after each operation, with a line where each level begins. The table beside says the same. */
export default function Chart({ points }: { points: readonly Point[] }) {
  const data = useMemo<uPlot.AlignedData>(
    () => [points.map((p) => p.n), points.map((p) => p.usage), ...thresholds.map((at) => points.map(() => at))],
    [points],
  );
  const box = usePlot(optionsOf, data);
  return <div ref={box} className={styles.chart} aria-hidden="true" />;
}

const shares = (_: uPlot, at: number[]): string[] => at.map(percent);

function optionsOf(frame: HTMLElement): uPlot.Options {
  const { color: line, borderTopColor: soft, outlineColor: warn, columnRuleColor: bad } = getComputedStyle(frame);
  const axis = axisOf(frame);
  const bounds = thresholds.map((_, i) => ({
    stroke: i < 2 ? warn : bad,
    width: 1,
    dash: [6, 4],
    points: { show: false },
  }));
  return {
    width: frame.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [12, 0, 0, 0],
    scales: {
      // By the operations' numbers: what was done within a second is told apart, and a night is no gap.
      x: { time: false, range: (_, min, max) => [min ?? 0, Math.max((min ?? 0) + 1, max ?? 1)] },
      y: { range: [0, 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
        values: (_, at) => at.map((n) => count(n)),
      },
      // Levels are close to each other at the top: every other one is named at the other side.
      { ...axis, size: 48, splits: () => [0, 0.25, 0.5, 0.7, 0.9], values: shares },
      { ...axis, size: 48, side: 1, grid: { show: false }, splits: () => [0.8, 0.95], values: shares },
    ],
    series: [
      {},
      { stroke: line, width: 2, fill: soft, points: { show: (u) => u.data[0].length < 40, size: 6, fill: line } },
      ...bounds,
    ],
  };
}
