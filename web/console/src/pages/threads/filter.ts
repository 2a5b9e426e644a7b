// Which threads are listed: as the address holds it, and as the server is asked.
import { type Filter, type Match, matchOf, readFilter, withFilter } from "../../filter/match";
import { type Lists, lists, listsIn, things as names, type ThingName } from "../../filter/scope";

/** What a message of a thread has to be. things: hashes, of which it has to have one of each kind that is named. */
export type ThreadFilter = { things: Record<ThingName, readonly string[]>; match: Filter };

/** Reads a filter out of an address. What cannot be read of it is left out, but for hashes: the server says what is wrong. */
export function readThreadFilter(params: URLSearchParams): ThreadFilter {
  const found = listsIn(params, names);
  const of = (name: ThingName) => [...new Set(found[lists[name]])];
  return {
    things: { player: of("player"), tag: of("tag"), item: of("item"), place: of("place"), flag: of("flag") },
    match: readFilter(params),
  };
}

/** A filter as an address: the same one for the same filter. */
export function addressOf({ things, match }: ThreadFilter): URLSearchParams {
  const params = new URLSearchParams();
  for (const name of names) for (const hash of things[name]) params.append(name, hash);
  return withFilter(params, match);
}

/** The part of an address that is the filter, as text; empty if it filters nothing. */
export const threadKey = (params: URLSearchParams): string => addressOf(readThreadFilter(params)).toString();

/** No filter: all threads. */
export const allThreads = (): ThreadFilter => readThreadFilter(new URLSearchParams());

/** What the server is asked for. now: milliseconds since 1970, for what is so long ago. */
export function askedOf(f: ThreadFilter, now: number): { filter: Lists | null; match: Match | null } {
  const filter = listsIn(addressOf(f), names);
  return { filter: Object.keys(filter).length > 0 ? filter : null, match: matchOf(f.match, now) };
}
