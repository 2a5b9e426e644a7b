import type { Policy, WeightInput } from "./query";

/** A constant of the ranking, with what it may be. */
export type Weight = Policy["weights"][number];

/** The name of one. */
export type WeightName = Weight["name"];

/** Every constant that there is, in the schema's order. */
export const weightNames = [
  "BEFORE_1",
  "BEFORE_2",
  "BEFORE_3",
  "BEFORE_4",
  "AFTER_1",
  "AFTER_2",
  "AFTER_3",
  "AFTER_4",
  "ANSWER",
  "SESSION",
  "SESSION_TOP",
  "OWNER",
  "TIME",
  "DATE",
  "DATE_TOLD",
  "OPENING",
  "QUESTION",
  "RECORD",
  "MIDDLE",
  "SEMANTIC",
  "SEMANTIC_FLOOR",
  "SEMANTIC_MIDDLE",
  "RECENCY",
  "RECENCY_WINDOW",
  "PREFERENCE",
] as const satisfies readonly WeightName[];

/** Whether only whole numbers are taken. */
export const isWhole = (name: WeightName): boolean =>
  name === "SESSION_TOP" || name === "DATE_TOLD" || name === "RECENCY_WINDOW";

/** Reads weights as the address has them, "RECENCY:0.3" each; what is none is left out, and so is a name's second one. */
export function weightsOf(texts: readonly string[]): WeightInput[] {
  const found = new Map<WeightName, number>();
  for (const text of texts) {
    const [, word, digits = ""] = /^([A-Z_0-9]+):(.+)$/.exec(text) ?? [];
    const name = weightNames.find((n) => n === word);
    const value = Number(digits);
    if (name && Number.isFinite(value) && !found.has(name)) found.set(name, value);
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

/** Writes weights as the address has them. */
export const textsOf = (weights: readonly WeightInput[]): string[] => weights.map((w) => `${w.name}:${w.value}`);

/** Where the policy of a receipt has a constant: the field, and for what stands by distance, the index. */
export function inPolicy(name: WeightName): { field: string; index: number | null } {
  const [, list, distance] = /^(BEFORE|AFTER)_(\d)$/.exec(name) ?? [];
  if (list) return { field: list.toLowerCase(), index: Number(distance) - 1 };
  return { field: name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), index: null };
}
