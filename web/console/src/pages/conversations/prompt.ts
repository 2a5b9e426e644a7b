import type { VariablesOf } from "../../api/graphql";
import type { PromptMessages } from "./query";

/** What the form of a prompt holds, as it is typed. */
export type Draft = {
  input: string;
  rolePrompt: string;
  rules: string;
  budget: string;
  context: boolean;
  /** What the context is selected for; empty: the user's message. */
  query: string;
  threshold: string;
};

/** What the server is asked. */
export type Asked = VariablesOf<typeof PromptMessages>;

/** The request that a draft stands for. */
export function requestOf(conversation: string, draft: Draft): Asked {
  const query = draft.query.trim() === "" ? draft.input : draft.query;
  return {
    conversation,
    input: draft.input,
    rolePrompt: draft.rolePrompt,
    rules: draft.rules === "" ? null : draft.rules,
    context: draft.context ? { query, threshold: Number(draft.threshold) } : null,
    tokenBudget: draft.budget === "" ? null : Number(draft.budget),
  };
}

/** What a message of a prompt is there for. */
export type Part = "role" | "rules" | "state" | "context" | "history" | "input";

/**
 * What each message of a prompt is, by the order that the API gives them in: role, rules if there were any, state, context
 * if any was found that fits, history, and the user's message.
 */
export function partsOf(roles: readonly string[], rules: boolean): Part[] {
  const first: readonly Part[] = rules ? ["role", "rules", "state"] : ["role", "state"];
  return roles.map((role, i) => {
    if (i === roles.length - 1) return "input";
    return first[i] ?? (role === "system" ? "context" : "history");
  });
}

/** How many seconds are left until a moment, never less than none; now in milliseconds since 1970. */
export const secondsTo = (iso: string, now: number): number => Math.max(0, Math.ceil((Date.parse(iso) - now) / 1000));

/** 29:41, or 1:05:09 from an hour on. */
export function clockOf(seconds: number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
