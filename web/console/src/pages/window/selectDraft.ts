import { bytesOf } from "../../ui/bounds";
import type { Problem } from "../../ui/useForm";
import type { ContextRequest } from "./query";

/** The server's bounds; the schema states the same. */
export const limits = {
  query: 65_536,
  limit: { least: 1, most: 200, usual: 5 },
  threshold: { least: 0, most: 1, usual: 0.7 },
  tokenBudget: { least: 1, most: 1_000_000 },
};

/** What the form holds; an empty budget is all that the window has left. */
export type Draft = { query: string; limit: string; threshold: string; tokenBudget: string };

export type FieldName = keyof Draft;

export const fields: readonly FieldName[] = ["query", "limit", "threshold", "tokenBudget"];

/** The form as it begins. */
export const begin = (): Draft => ({
  query: "",
  limit: String(limits.limit.usual),
  threshold: String(limits.threshold.usual),
  tokenBudget: "",
});

const within = (text: string, { least, most }: { least: number; most: number }): boolean =>
  text.trim() !== "" && Number(text) >= least && Number(text) <= most;

/** What the server would refuse, by field. */
export function problems(d: Draft): Partial<Record<FieldName, Problem>> {
  const found: Partial<Record<FieldName, Problem>> = {};
  const n = bytesOf(d.query);
  if (n > limits.query) found.query = { id: "windows.wrong.bytes", values: { n, most: limits.query } };
  if (d.query.trim() === "") found.query = { id: "windows.wrong.empty" };
  for (const field of ["limit", "tokenBudget"] as const) {
    const { least, most } = limits[field];
    if (field === "tokenBudget" && d.tokenBudget.trim() === "") continue;
    if (!within(d[field], limits[field]) || !Number.isInteger(Number(d[field])))
      found[field] = { id: "windows.wrong.between", values: { least, most } };
  }
  if (!within(d.threshold, limits.threshold)) found.threshold = { id: "windows.wrong.share" };
  return found;
}

/** What is asked of the server. */
export const inputOf = ({ query, limit, threshold, tokenBudget }: Draft): ContextRequest => ({
  query: query.trim(),
  limit: Number(limit),
  threshold: Number(threshold),
  ...(tokenBudget.trim() && { tokenBudget: Number(tokenBudget) }),
});
