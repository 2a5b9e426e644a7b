// Which threads are listed: as the address holds it, and as the server is asked.
import { type Filter, type Match, matchOf, readFilter, withFilter } from "../../filter/match";
import { type Lists, lists, listsIn, things as names, type ThingName } from "../../filter/scope";

/** What a player may have had to do with a message, by its name in the address. */
export const parts = ["sender", "receiver", "leader"] as const;

/** A part that a player may have had in a message. */
export type PartName = (typeof parts)[number];

/**
 * What a message of a thread has to be. things: hashes, of which it has to have one of each kind that is named; parts: of
 * players, of which one has to have had that part in it.
 */
export type ThreadFilter = {
  things: Record<ThingName, readonly string[]>;
  parts: Record<PartName, readonly string[]>;
  match: Filter;
};

/** Reads a filter out of an address. What cannot be read of it is left out, but for hashes: the server says what is wrong. */
export function readThreadFilter(params: URLSearchParams): ThreadFilter {
  const found = listsIn(params, names);
  const of = (name: ThingName) => [...new Set(found[lists[name]])];
  return {
    things: { player: of("player"), tag: of("tag"), item: of("item"), place: of("place"), flag: of("flag") },
    parts: {
      sender: hashesOf(params, "sender"),
      receiver: hashesOf(params, "receiver"),
      leader: hashesOf(params, "leader"),
    },
    match: readFilter(params),
  };
}

const hashesOf = (params: URLSearchParams, name: PartName): string[] => [
  ...new Set(params.getAll(name).filter((hash) => hash !== "")),
];

/** A filter as an address: the same one for the same filter. */
export function addressOf(f: ThreadFilter): URLSearchParams {
  const params = new URLSearchParams();
  for (const name of names) for (const hash of f.things[name]) params.append(name, hash);
  for (const name of parts) for (const hash of f.parts[name]) params.append(name, hash);
  return withFilter(params, f.match);
}

/** The part of an address that is the filter, as text; empty if it filters nothing. */
export const threadKey = (params: URLSearchParams): string => addressOf(readThreadFilter(params)).toString();

/** No filter: all threads. */
export const allThreads = (): ThreadFilter => readThreadFilter(new URLSearchParams());

/** What the server is asked for. */
export type Asked = {
  filter: (Lists & { owners?: string[] }) | null;
  match: (Match & { receivers?: string[]; leaders?: string[] }) | null;
};

/** What the server is asked for. now: milliseconds since 1970, for what is so long ago. */
export function askedOf(f: ThreadFilter, now: number): Asked {
  const { sender, receiver, leader } = f.parts;
  const filter = { ...listsIn(addressOf(f), names), ...(sender.length > 0 && { owners: [...sender] }) };
  const match = {
    ...matchOf(f.match, now),
    ...(receiver.length > 0 && { receivers: [...receiver] }),
    ...(leader.length > 0 && { leaders: [...leader] }),
  };
  const some = <T extends object>(asked: T) => (Object.keys(asked).length > 0 ? asked : null);
  return { filter: some(filter), match: some(match) };
}
