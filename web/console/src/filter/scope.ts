import type { Namespaces } from "../ui/Picker";

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

/** Kinds of people and things, and the namespaces that each is of. */
export const things = [
  { name: "player", namespaces: ["PLY", "PLU", "PLX"] },
  { name: "tag", namespaces: ["HST", "SPE", "VSN", "VUE", "HSU"] },
  { name: "item", namespaces: ["ITM", "ITU", "ITX"] },
  { name: "place", namespaces: ["LOC", "LOU", "LOX"] },
  { name: "flag", namespaces: ["FLG", "FLU"] },
] as const satisfies { name: ListName; namespaces: NonNullable<Namespaces> }[];

/** A kind of people or things. */
export type ThingName = (typeof things)[number]["name"];

/** The lists that an address names, of those with these names; a list that it does not name is left out. */
export function listsIn(params: URLSearchParams, names = Object.keys(lists) as ListName[]): Lists {
  const found: Lists = {};
  for (const name of names) {
    const hashes = params.getAll(name).filter((h) => h !== "");
    if (hashes.length > 0) found[lists[name]] = hashes;
  }
  return found;
}
