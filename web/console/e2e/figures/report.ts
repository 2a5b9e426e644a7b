/** One figure. limit: what it must not exceed; beside: what bounds it on this machine, measured in the same run. */
export type Figure = {
  name: string;
  limit: number | null;
  measured: number;
  unit: string;
  how: string;
  beside?: { measured: number; what: string };
};

const number = (n: number) => (Math.abs(n) >= 100 ? Math.round(n) : Math.round(n * 10) / 10).toLocaleString("en-US");

/** Figures as a table of Markdown. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, limit, measured, unit, how, beside }) => {
    const missed = limit !== null && measured > limit ? ", **missed**" : "";
    const most = limit === null ? "–" : `≤ ${number(limit)} ${unit}`;
    const bound = beside ? `${number(beside.measured)} ${unit}: ${beside.what}` : "–";
    return [name, `${most}${missed}`, `${number(measured)} ${unit}`, bound, how];
  });
  const head = ["figure", "must be", "measured", "beside it", "how"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The value that a share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** The value in the middle. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);
