import type { Namespaces as Some } from "../ui/Picker";

type Namespaces = readonly NonNullable<Some>[number][];

/** Lists of hashes that narrow a scope, by their names in the address. */
export const lists = {
  player: "players",
  tag: "hashtags",
  flag: "flags",
  item: "items",
  place: "locations",
  thread: "threads",
} as const;

/** The name in the address of a list that narrows a scope. */
export type ListName = keyof typeof lists;

/** What a scope is asked for, as far as the lists go. */
export type Lists = { [L in (typeof lists)[ListName]]?: string[] };

/** The namespaces of each kind of people and things. */
export const namespaces = {
  player: ["PLY", "PLU", "PLX"],
  tag: ["HST", "SPE", "VSN", "VUE", "HSU"],
  item: ["ITM", "ITU", "ITX"],
  place: ["LOC", "LOU", "LOX"],
  flag: ["FLG", "FLU"],
} as const satisfies Partial<Record<ListName, Namespaces>>;

/** A kind of people or things. */
export type ThingName = keyof typeof namespaces;

/** The kinds of people and things, in the order that they are asked for. */
export const things = Object.keys(namespaces) as ThingName[];

/** The lists that an address names, of those with these names; a list that it does not name is left out. */
export function listsIn(params: URLSearchParams, names = Object.keys(lists) as ListName[]): Lists {
  const found: Lists = {};
  for (const name of names) {
    const hashes = params.getAll(name).filter((h) => h !== "");
    if (hashes.length > 0) found[lists[name]] = hashes;
  }
  return found;
}
