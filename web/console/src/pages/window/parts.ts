import type { ContentType, Item, WholeWindow } from "./query";

/** All types, in prompt order. */
export const types = [
  "SYSTEM_INSTRUCTION",
  "GOAL",
  "USER_PREFERENCE",
  "DECISION",
  "KNOWLEDGE",
  "USER_MESSAGE",
  "ASSISTANT_MESSAGE",
  "TOOL_RESULT",
] as const satisfies readonly ContentType[];

/** What fills a window: items of a type, those that it shares with others, or the tools that it describes. */
export type Part = {
  of: ContentType | "SHARED" | "TOOLS";
  n: number;
  tokens: number;
  /** The mean quality of its items; null of tools. */
  score: number | null;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);

const partOf = (of: Part["of"], items: readonly Item[]): Part => ({
  of,
  n: items.length,
  tokens: sum(items.map((i) => i.tokens)),
  score: items.length === 0 ? null : sum(items.map((i) => i.quality.score)) / items.length,
});

/** What fills a window, by type in prompt order, then what it shares and its tools; what it has none of is left out. */
export function partsOf({ items, segments, tools }: Pick<WholeWindow, "items" | "segments" | "tools">): Part[] {
  const shown = tools.filter((tool) => tool.shown);
  const parts: Part[] = [
    ...types.map((type) =>
      partOf(
        type,
        items.filter((i) => i.type === type),
      ),
    ),
    partOf(
      "SHARED",
      segments.flatMap((s) => s.items),
    ),
    { of: "TOOLS", n: shown.length, tokens: sum(shown.map((tool) => tool.tokens)), score: null },
  ];
  return parts.filter((p) => p.n > 0);
}

type Said = "USER_MESSAGE" | "ASSISTANT_MESSAGE" | "TOOL_RESULT";

/** Items that stand together: those of a type, and all that was said, with what tools gave in between. */
export type Group = { name: Exclude<ContentType, Said> | "SAID"; items: Item[] };

const groupOf = (type: ContentType): Group["name"] =>
  type === "USER_MESSAGE" || type === "ASSISTANT_MESSAGE" || type === "TOOL_RESULT" ? "SAID" : type;

/** The groups of items that are in prompt order, in that order. */
export function groupsOf(items: readonly Item[]): Group[] {
  const groups = new Map<Group["name"], Item[]>();
  for (const item of items) {
    const name = groupOf(item.type);
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups].map(([name, of]) => ({ name, items: of }));
}

/** The items that a window holds and shares, by id. */
export const itemsOf = ({ items, segments }: Pick<WholeWindow, "items" | "segments">): ReadonlyMap<string, Item> =>
  new Map([...items, ...segments.flatMap((s) => s.items)].map((i) => [i.id, i]));
