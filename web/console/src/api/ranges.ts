// A list of any length, known by its total count and read by ranges as they come into view.
import type { CombinedError } from "urql";
import { asCombined } from "./errors";

/** Rows from a position on, and how many there are in all. It may end before as many as were asked for. */
export type Chunk<T> = { from: number; totalCount: number; rows: readonly T[] };

/** Fetches rows [from, from+count), from 0. Rejects with a CombinedError, or once the signal aborts. */
export type FetchRange<T> = (from: number, count: number, signal: AbortSignal) => Promise<Chunk<T>>;

/** How much is fetched and kept, in rows and in blocks of them. */
export type RangeLimits = { block: number; kept: number; atOnce: number; ahead: number };

const usual: RangeLimits = { block: 50, kept: 12, atOnce: 3, ahead: 1 };

let next = 1;

type Block<T> = { rows: T[]; stale: boolean; error: CombinedError | null };

/**
 * The rows of a list that are in view or near it. Blocks that come into view are fetched, at most `atOnce` at a time,
 * those nearest to the view first; what was scrolled past is cancelled, and what is far from view is dropped: at most
 * `kept` blocks are in memory, however long the list is. A block that failed keeps its error until it is retried.
 */
export class Ranges<T> {
  /** Tells lists apart: another one for each. */
  readonly id = next++;
  /** How many rows there are; null until the first answer. */
  total: number | null = null;
  private readonly limits: RangeLimits;
  private readonly blocks = new Map<number, Block<T>>();
  private readonly running = new Map<number, AbortController>();
  private readonly listeners = new Set<() => void>();
  private seen = { from: 0, to: 1 };
  private version = 0;

  /** keyOf tells rows apart. With it, rows that moved because one came in before them are asked for again. */
  constructor(
    private readonly fetch: FetchRange<T>,
    limits: Partial<RangeLimits> = {},
    private readonly keyOf: ((row: T) => unknown) | null = null,
  ) {
    this.limits = { ...usual, ...limits };
  }

  /** For useSyncExternalStore: another number after each change. */
  readonly snapshot = (): number => this.version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The row at a position; undefined if it is not in memory. */
  row(position: number): T | undefined {
    const { block } = this.limits;
    return this.blocks.get(Math.floor(position / block))?.rows[position % block];
  }

  /** Why the row at a position is not there, if its request failed. */
  errorAt(position: number): CombinedError | null {
    return this.row(position) === undefined ? (this.blocks.get(this.blockOf(position))?.error ?? null) : null;
  }

  /** How many rows are in memory. */
  get held(): number {
    let n = 0;
    for (const b of this.blocks.values()) n += b.rows.length;
    return n;
  }

  /** The position of the first row in memory that matches; -1 if none does. */
  find(matches: (row: T) => boolean): number {
    for (const [index, b] of this.blocks) {
      const at = b.rows.findIndex(matches);
      if (at >= 0) return index * this.limits.block + at;
    }
    return -1;
  }

  /** Tells that rows [from, to) are in view. */
  view(from: number, to: number): void {
    this.seen = { from: Math.max(0, from), to: Math.max(from + 1, to) };
    this.settle();
  }

  /** Brings a position into view, and gives its row once it is there; null if it cannot be had, or the signal aborts. */
  async wait(position: number, signal: AbortSignal): Promise<T | null> {
    if (this.row(position) === undefined) this.view(position, position + 1);
    while (this.row(position) === undefined) {
      const past = this.total !== null && position >= this.total;
      if (past || signal.aborted || this.errorAt(position)) return null;
      await new Promise<void>((resolve) => {
        const go = () => {
          off();
          signal.removeEventListener("abort", go); // it may last as long as the page
          resolve();
        };
        const off = this.subscribe(go);
        signal.addEventListener("abort", go);
      });
    }
    return this.row(position) ?? null;
  }

  /** Asks again for the block of a position that failed. */
  retry(position: number): void {
    const block = this.blocks.get(this.blockOf(position));
    if (!block) return;
    block.error = null;
    this.settle();
  }

  /** Asks for what is in view once more; what is there stays until the answer comes. */
  reload(): void {
    for (const block of this.blocks.values()) {
      block.stale = true;
      block.error = null;
    }
    for (const index of [...this.running.keys()]) this.cancel(index);
    this.changed();
    this.settle();
  }

  /** Changes rows that are in memory, at once, and asks for what is in view once more. change: gives a row, or it as it was. */
  amend(change: (row: T) => T): void {
    for (const block of this.blocks.values()) block.rows = block.rows.map(change);
    if (this.blocks.size > 0) this.reload();
  }

  /** Asks how far the list has grown, by what follows its last row, and gives the new total. */
  async grow(signal: AbortSignal): Promise<number> {
    const { block } = this.limits;
    const from = this.total ?? 0;
    const last = from > 0 && this.keyOf ? this.row(from - 1) : undefined;
    const known = last === undefined ? 0 : 1; // asked for as well, to see whether it is still there
    const chunk = await this.fetch(from - known, block, signal);
    if (signal.aborted || (this.total ?? 0) > from) return this.total ?? 0;
    this.count(chunk.totalCount);
    const [there] = chunk.rows;
    if (last !== undefined && there !== undefined && this.keyOf?.(there) !== this.keyOf?.(last)) {
      this.reload();
      return chunk.totalCount;
    }
    chunk.rows.slice(known).forEach((row, i) => {
      const b = this.blocks.get(this.blockOf(from + i));
      if (b && b.rows.length === (from + i) % block) b.rows.push(row);
      else if ((from + i) % block === 0) this.blocks.set(this.blockOf(from + i), held([row]));
    });
    this.changed();
    this.settle();
    return chunk.totalCount;
  }

  /** Cancels what is under way. */
  stop(): void {
    for (const index of [...this.running.keys()]) this.cancel(index);
  }

  private blockOf(position: number): number {
    return Math.floor(position / this.limits.block);
  }

  // Which blocks are wanted, those in view first.
  private wanted(): number[] {
    const from = this.blockOf(this.seen.from);
    if (this.total === null) return [from];
    if (this.total === 0) return [];
    const last = this.blockOf(this.total - 1);
    const to = Math.min(last, this.blockOf(this.seen.to - 1));
    const inView = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
    const around = Array.from({ length: this.limits.ahead }, (_, i) => [to + 1 + i, from - 1 - i]).flat();
    return [...inView, ...around.filter((b) => b >= 0 && b <= last)];
  }

  private settle(): void {
    const wanted = this.wanted();
    for (const index of [...this.running.keys()]) if (!wanted.includes(index)) this.cancel(index);
    this.drop();
    for (const index of wanted) {
      if (this.running.size >= this.limits.atOnce) return;
      if (!this.running.has(index) && this.lacks(index)) void this.load(index);
    }
  }

  private lacks(index: number): boolean {
    const block = this.blocks.get(index);
    if (!block) return true;
    return block.error === null && (block.stale || block.rows.length < this.sizeOf(index));
  }

  private sizeOf(index: number): number {
    const { block } = this.limits;
    return Math.min(block, (this.total ?? Number.POSITIVE_INFINITY) - index * block);
  }

  // A block may need more than one request: the server ends an answer early that would be too large.
  private async load(index: number): Promise<void> {
    const controller = new AbortController();
    this.running.set(index, controller);
    const before = this.blocks.get(index);
    const start = index * this.limits.block;
    const have = before && !before.stale ? before.rows.length : 0;
    try {
      const count = Math.min(this.limits.block, Math.max(1, this.sizeOf(index))) - have;
      const chunk = await this.fetch(start + have, count, controller.signal);
      if (controller.signal.aborted) return;
      this.count(chunk.totalCount);
      const rows = have > 0 && before ? [...before.rows, ...chunk.rows] : [...chunk.rows];
      if (start < chunk.totalCount) this.blocks.set(index, held(rows));
      if (chunk.rows.length === 0 && rows.length < this.sizeOf(index)) throw new Error("The server gave no rows.");
    } catch (error) {
      if (controller.signal.aborted) return;
      this.blocks.set(index, { rows: before?.rows ?? [], stale: before?.stale ?? false, error: asCombined(error) });
    }
    this.running.delete(index);
    if (this.repeats(index) || this.repeats(index + 1)) return this.reload();
    this.changed();
    this.settle();
  }

  // Whether a block begins with the row that the one before it ends with: then one of them is older than what came in.
  private repeats(index: number): boolean {
    const [before, after] = [this.blocks.get(index - 1), this.blocks.get(index)];
    const [last, first] = [before?.rows[this.limits.block - 1], after?.rows[0]];
    if (!this.keyOf || !before || !after || before.stale || after.stale) return false;
    return last !== undefined && first !== undefined && this.keyOf(last) === this.keyOf(first);
  }

  private count(total: number): void {
    this.total = total;
    for (const index of [...this.blocks.keys()]) if (index * this.limits.block >= total) this.blocks.delete(index);
  }

  private cancel(index: number): void {
    this.running.get(index)?.abort();
    this.running.delete(index);
  }

  // Drops the blocks farthest from view, until no more are kept than may be.
  private drop(): void {
    const middle = this.blockOf((this.seen.from + this.seen.to) / 2);
    const far = [...this.blocks.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const index of far.slice(0, Math.max(0, far.length - this.limits.kept))) this.blocks.delete(index);
  }

  private changed(): void {
    this.version++;
    for (const listener of [...this.listeners]) listener();
  }
}

const held = <T>(rows: T[]): Block<T> => ({ rows, stale: false, error: null });
