// Numbers of messages, kept as the few runs that they mostly are. Pure.

/** Numbers as runs of them: the first and the last of each, ascending. */
export type Runs = readonly number[];

/** A set of numbers, which takes room for each run of them. */
export class Numbers {
  private readonly bounds: number[] = [];

  /** As they are now. */
  get runs(): Runs {
    return [...this.bounds];
  }

  add(from: number, to = from): void {
    const { bounds } = this;
    const begin = runAt(bounds, from - 1);
    let end = begin;
    while (end < bounds.length && (bounds[end] as number) <= to + 1) end += 2;
    const first = Math.min(from, bounds[begin] ?? from);
    const last = Math.max(to, end > begin ? (bounds[end - 1] as number) : to);
    bounds.splice(begin, end - begin, first, last);
  }

  addAll(runs: Runs): void {
    for (let i = 0; i < runs.length; i += 2) this.add(runs[i] as number, runs[i + 1]);
  }

  /** Whether it was there. */
  delete(n: number): boolean {
    const { bounds } = this;
    const at = runAt(bounds, n);
    const [first, last] = [bounds[at], bounds[at + 1]];
    if (first === undefined || last === undefined || first > n) return false;
    bounds.splice(at, 2, ...(first < n ? [first, n - 1] : []), ...(n < last ? [n + 1, last] : []));
    return true;
  }

  has(n: number): boolean {
    return within(this.bounds, n);
  }
}

/** Whether a number is in one of the runs. */
export function within(runs: Runs, n: number): boolean {
  const first = runs[runAt(runs, n)];
  return first !== undefined && first <= n;
}

/** How many numbers there are in runs. */
export function amount(runs: Runs): number {
  let n = 0;
  for (let i = 0; i < runs.length; i += 2) n += (runs[i + 1] as number) - (runs[i] as number) + 1;
  return n;
}

/** The first numbers in runs that are at most so high, and at most so many. */
export function firstOf(runs: Runs, highest: number, most: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let n = runs[i] as number; n <= Math.min(runs[i + 1] as number, highest); n++) {
      if (found.length === most) return found;
      found.push(n);
    }
  }
  return found;
}

// Where the first run stands that ends with n or behind it.
function runAt(runs: Runs, n: number): number {
  let [low, high] = [0, runs.length / 2];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((runs[2 * middle + 1] as number) < n) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}
