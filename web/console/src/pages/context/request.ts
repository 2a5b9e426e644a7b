import type { VariablesOf } from "../../api/graphql";
import { listsIn } from "../../filter/scope";
import type { AskForContext } from "./query";

/** What the server is asked. */
export type RequestInput = VariablesOf<typeof AskForContext>["input"];

/** The limits of a request, as the schema states them. */
export const limits = {
  limit: { least: 1, most: 200, usual: 5 },
  threshold: { usual: 0.7 },
  budget: { most: 1_000_000 },
};

const refTypes = ["CONTEXT", "ACCOUNTANT", "SECRETARY"] as const;

/** The settings that two sides may have otherwise, by their names in the address: the second side's end in 2. */
export const sided = ["threshold", "limit", "budget"] as const;

/** One of two settings beside each other. */
export type Side = 1 | 2;

/** The name in the address of a setting of a side. */
export const nameAt = (name: string, side: Side): string => (side === 1 ? name : `${name}2`);

/**
 * Reads a request from the address, where all of the form is kept. Null without a question. What the second side does not
 * set is as on the first.
 */
export function requestOf(params: URLSearchParams, side: Side = 1): RequestInput | null {
  const query = (params.get("q") ?? "").trim();
  if (!query) return null;
  const scope: NonNullable<RequestInput["scope"]> = listsIn(params);
  const types = refTypes.filter((t) => params.getAll("type").includes(t));
  if (types.length > 0) scope.types = types;
  const since = params.get("since");
  const until = params.get("until");
  if (since) scope.since = `${since}T00:00:00Z`;
  if (until) scope.until = `${until}T00:00:00Z`;
  const number = (name: string) => (side === 2 ? numberIn(params, nameAt(name, side)) : null) ?? numberIn(params, name);
  return {
    query,
    limit: number("limit") ?? limits.limit.usual,
    threshold: number("threshold") ?? limits.threshold.usual,
    tokenBudget: number("budget"),
    player: params.get("as"),
    previous: params.get("keep"),
    scope: Object.keys(scope).length > 0 ? scope : null,
  };
}

function numberIn(params: URLSearchParams, name: string): number | null {
  const text = params.get(name);
  const value = text ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}
