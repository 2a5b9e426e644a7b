import { type RefObject, useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useShownTheme } from "../../app/theme";
import { useLanguage } from "../../words";

/**
 * Draws data into the element that the reference is given to, as wide as that is. A canvas tells nothing to who cannot see
 * it: the same numbers stand in a table beside. optionsOf is asked again for each theme and language, as the colours and
 * words of a canvas are those of the moment at which it was drawn.
 */
export function usePlot(
  optionsOf: (frame: HTMLElement) => uPlot.Options,
  data: uPlot.AlignedData,
): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useShownTheme();
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme or language draws it anew
  useEffect(() => {
    const frame = box.current;
    if (!frame) return;
    const options = optionsOf(frame);
    plot.current = new uPlot(options, data.map(() => []) as unknown as uPlot.AlignedData, frame);
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: frame.clientWidth, height: options.height }));
    sized.observe(frame);
    return () => {
      sized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [theme, language]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: one that was drawn anew gets its data again
  useEffect(() => {
    plot.current?.setData(data);
  }, [data, theme, language]);
  return box;
}

/** How the text of an axis and its lines look, in the colours of the page. */
export function axisOf(frame: HTMLElement): uPlot.Axis {
  const text = getComputedStyle(frame.closest("figure") ?? frame).color;
  const grid = getComputedStyle(frame).borderTopColor;
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  return { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
}
