/** How far back the figures reach. */
export const periods = ["day", "week", "ever"] as const;
export type Period = (typeof periods)[number];

const hours: Record<Period, number | null> = { day: 24, week: 7 * 24, ever: null };
const step = 60_000;

/** Since when figures count, to the minute, so that the same question is not another one each time; null: ever. */
export function sinceOf(period: Period, now: number): string | null {
  const back = hours[period];
  if (back === null) return null;
  return new Date(Math.floor(now / step) * step - back * 3_600_000).toISOString();
}
