import type { Bucket, Use } from "./query";

/** The most times that are drawn. */
export const mostBars = 60;

/** One time of a chart. */
export type Bar = Use["buckets"][number];

// The time after one, by the calendar of UTC.
function after(start: string, bucket: Bucket): string {
  const at = new Date(start);
  if (bucket === "MONTH") at.setUTCMonth(at.getUTCMonth() + 1);
  else at.setUTCDate(at.getUTCDate() + (bucket === "WEEK" ? 7 : 1));
  return at.toISOString();
}

/**
 * The latest times in order, with those between in which nothing was: at most mostBars, and whether there are earlier
 * ones.
 */
export function barsOf(buckets: readonly Bar[], bucket: Bucket): { bars: Bar[]; capped: boolean } {
  const bars: Bar[] = [];
  let capped = false;
  for (const one of buckets) {
    const last = bars.at(-1);
    for (
      let at = last && after(last.start, bucket);
      at && Date.parse(at) < Date.parse(one.start);
      at = after(at, bucket)
    ) {
      bars.push({ start: at, total: 0, sent: 0, received: 0, led: 0 });
    }
    bars.push(one);
    if (bars.length > mostBars) {
      capped = true;
      bars.splice(0, bars.length - mostBars);
    }
  }
  return { bars, capped };
}
