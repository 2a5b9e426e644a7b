import type { Explanation } from "./query";

/** The parts of a score, in the order they are drawn. */
export const partNames = ["lexical", "neighbours", "semantic", "recency", "preference"] as const;

/** The name of a part of a score. */
export type PartName = (typeof partNames)[number];

/** A part: its own value, and its share of the drawn bar, where 1 is the whole width. */
export type ScorePart = { name: PartName; value: number; width: number };

/**
 * How a score is drawn. score = min(1, relevance + recency + preference), so these three are drawn at their own
 * size; relevance is calibrated from lexical, neighbours and semantic together, so its width is divided among them in
 * proportion to their values. The bar ends at the score.
 */
export function scoreParts(score: number, e: Explanation): ScorePart[] {
  const raw = { lexical: e.lexical, neighbours: e.neighbours, semantic: e.semantic ?? 0 };
  const sum = raw.lexical + raw.neighbours + raw.semantic;
  const whole = e.relevance + e.recency + e.preference;
  const fit = whole > 0 ? score / whole : 0; // below 1 only where the sum was cut at 1
  const share = (value: number) => (sum > 0 ? (e.relevance * value) / sum : 0);
  const parts: ScorePart[] = [
    { name: "lexical", value: raw.lexical, width: share(raw.lexical) * fit },
    { name: "neighbours", value: raw.neighbours, width: share(raw.neighbours) * fit },
    { name: "semantic", value: raw.semantic, width: share(raw.semantic) * fit },
    { name: "recency", value: e.recency, width: e.recency * fit },
    { name: "preference", value: e.preference, width: e.preference * fit },
  ];
  return parts.filter((p) => p.value > 0);
}
