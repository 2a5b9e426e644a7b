import type { Column } from "../ui/table/cells";
import { t } from "../words";
import type { Change } from "./difference";
import type { Dropped, Explanation, Selected } from "./query";

/** One that was ranked, with what became of it: an item has a place and the parts of its score. */
export type Ranked = {
  hash: string;
  position: number | null;
  fate: "SELECTED" | Dropped["reason"];
  score: number;
  tokens: number;
  parts: Explanation | null;
};

/** Items and what was left out as the rows of one table. */
export const rankedOf = (items: readonly Selected[], dropped: readonly Dropped[]): Ranked[] => [
  ...items.map(({ hash, position, score, tokens, explanation }) => ({
    hash,
    position,
    fate: "SELECTED" as const,
    score,
    tokens,
    parts: explanation,
  })),
  ...dropped.map(({ hash, score, tokens, reason }) => ({
    hash,
    position: null,
    fate: reason,
    score,
    tokens,
    parts: null,
  })),
];

const parts = ["relevance", "lexical", "neighbours", "semantic", "recency", "preference"] as const;

/** What a selection's table holds for whoever takes it away. */
export const rankedColumns = (): Column<Ranked>[] => [
  { id: "position", head: t("selection.column.position"), value: (r) => r.position },
  { id: "hash", head: t("selection.column.hash"), value: (r) => r.hash },
  { id: "fate", head: t("selection.column.fate"), value: (r) => r.fate },
  { id: "score", head: t("selection.difference.score"), value: (r) => r.score },
  ...parts.map((id) => ({ id, head: t(`selection.score.${id}`), value: (r: Ranked) => r.parts?.[id] ?? null })),
  { id: "tokens", head: t("selection.column.tokens"), value: (r) => r.tokens },
];

/** What a difference holds for whoever takes it away; names: what the two sides are called. */
export const changeColumns = ([before, after]: readonly [string, string]): Column<Change>[] => {
  const of = (side: string, what: string) => t("selection.column.side", { side, what });
  const [place, score] = [t("selection.column.position"), t("selection.difference.score")];
  return [
    { id: "change", head: t("selection.difference.what"), value: (c) => c.kind },
    { id: "hash", head: t("selection.column.hash"), value: (c) => c.hash },
    { id: "positionBefore", head: of(before, place), value: (c) => c.before.position },
    { id: "positionAfter", head: of(after, place), value: (c) => c.after.position },
    { id: "scoreBefore", head: of(before, score), value: (c) => c.before.score },
    { id: "scoreAfter", head: of(after, score), value: (c) => c.after.score },
  ];
};
