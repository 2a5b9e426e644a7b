import { askApart } from "../../api/apart";
import type { Chunk } from "../../api/ranges";
import type { Subject } from "../../chain/verify";
import type { Match } from "../../filter/match";
import { type Mark, MarksQuery, type MessageRow, PlaceAtQuery, PlaceQuery, RangeQuery } from "./query";

/** Where a message stands, from 0: among all, and among those that match; null if it is not among them. */
export type Places = { place: number | null; matched: number | null };

/** What stands out, as far as it is told: at most 500 of `count`. */
export type Marks = { marks: readonly Mark[]; count: number };

/** The messages of a conversation that match a filter, as the server has them. Nothing is kept here. */
export class Source {
  constructor(
    private readonly send: typeof fetch,
    readonly subject: Subject,
    /** null: all of them. */
    readonly match: Match | null,
  ) {}

  /** Rows from a place on. A conversation that is not there has none. */
  readonly range = async (from: number, count: number, signal?: AbortSignal): Promise<Chunk<MessageRow>> => {
    const of = await this.rows(from, count, this.match, signal);
    return of ? { from: of.from, totalCount: of.totalCount, rows: of.messages } : { from, totalCount: 0, rows: [] };
  };

  /** The message at a place among all, whatever the filter; null if there is none. */
  async at(place: number): Promise<MessageRow | null> {
    return (await this.rows(place, 1, null))?.messages[0] ?? null;
  }

  /** Where a message stands. */
  async place(message: string): Promise<Places> {
    const { thread, session } = await askApart(this.send, PlaceQuery, { ...this.of, message, match: this.match });
    const of = thread ?? session;
    return { place: of?.place ?? null, matched: of?.matched ?? null };
  }

  /** Where the first message at a moment or later stands among those that match; their number if there is none. */
  async placeAt(at: string): Promise<number> {
    const { thread, session } = await askApart(this.send, PlaceAtQuery, { ...this.of, at, match: this.match });
    return (thread ?? session)?.placeAt ?? 0;
  }

  /** What stands out among those that match. */
  async marks(signal: AbortSignal): Promise<Marks> {
    const { thread, session } = await askApart(this.send, MarksQuery, { ...this.of, match: this.match }, signal);
    const of = thread ?? session;
    return { marks: of?.marks ?? [], count: of?.marksCount ?? 0 };
  }

  /** A message of a session by its number; of what is missing the next one. Null if there is none. */
  async numbered(session: string, sequence: number): Promise<MessageRow | null> {
    const source = new Source(this.send, { kind: "session", hash: session }, null);
    // Where messages were taken out, those after them stand at lower places than their numbers.
    let [low, high] = [0, sequence];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = await source.at(middle);
      if (row && row.sequence < sequence) low = middle + 1;
      else high = middle;
    }
    return await source.at(low);
  }

  private async rows(from: number, count: number, match: Match | null, signal?: AbortSignal) {
    const { thread, session } = await askApart(this.send, RangeQuery, { ...this.of, from, count, match }, signal);
    return (thread ?? session)?.range ?? null;
  }

  private get of(): { hash: string; thread: boolean } {
    return { hash: this.subject.hash, thread: this.subject.kind === "thread" };
  }
}
