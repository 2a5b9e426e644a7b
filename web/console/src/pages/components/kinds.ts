import { namespaces } from "../../filter/scope";
import type { Namespace } from "./query";

/** The namespaces of each kind of component. */
export const namespacesOf = {
  players: namespaces.player,
  tags: namespaces.tag,
  flags: namespaces.flag,
  items: namespaces.item,
  places: namespaces.place,
} as const satisfies Record<string, readonly Namespace[]>;

/** A kind of component, as the address names it. */
export type Kind = keyof typeof namespacesOf;

export const kinds = Object.keys(namespacesOf) as Kind[];

/** The namespace that an address names; null if there is none of this name. */
export const namespaceOf = (name: string): Namespace | null =>
  Object.values(namespacesOf)
    .flat()
    .find((n) => n === name.toUpperCase()) ?? null;

/** The kind of what lives in a namespace. */
export const kindOf = (namespace: Namespace): Kind =>
  kinds.find((k) => (namespacesOf[k] as readonly Namespace[]).includes(namespace)) ?? "tags";

/** What lists and scopes are narrowed by: its name in the address of the threads, and in the API. */
export const scopes = {
  Player: { address: "player", filter: "players" },
  Hashtag: { address: "tag", filter: "hashtags" },
  Flag: { address: "flag", filter: "flags" },
  Item: { address: "item", filter: "items" },
  Location: { address: "place", filter: "locations" },
} as const;

/** The type of a component. */
export type Type = keyof typeof scopes;
