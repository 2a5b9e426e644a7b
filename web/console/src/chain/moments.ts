const units = [1n, 1_000n, 1_000_000n, 60_000_000n, 3_600_000_000n, 86_400_000_000n]; // microseconds to days
const mostMonths = 240;
const steps = 1_000; // how many of each unit a moment may have been moved by
const mostOfGrid = 300_000; // moments between two neighbours that are tried

/**
 * What a moment may have been that was altered, in microseconds since 1970: the same a whole number of days, hours, …,
 * years earlier or later; and, since messages stand in the order of time, every moment between its neighbours', as finely
 * as there are not too many.
 */
export function* moments(is: bigint, previous: bigint | null, next: bigint | null): Generator<bigint> {
  for (const unit of units) {
    for (let k = 1n; k <= steps; k++) {
      yield is - k * unit;
      yield is + k * unit;
    }
  }
  const { date, rest } = split(is);
  for (let k = 1; k <= mostMonths; k++) {
    for (const by of [-k, k]) {
      const moved = new Date(date);
      moved.setUTCMonth(moved.getUTCMonth() + by);
      yield BigInt(moved.getTime()) * 1_000n + rest;
    }
  }
  if (previous === null && next === null) return;
  const from = previous ?? (next ?? 0n) - 3_600_000_000n;
  const to = next ?? from + 3_600_000_000n;
  for (const unit of [1_000_000n, 1_000n, 1n]) {
    if (to < from || (to - from) / unit > mostOfGrid) return;
    for (let t = (from / unit) * unit; t <= to; t += unit) yield t;
  }
}

function split(is: bigint): { date: number; rest: bigint } {
  const rest = ((is % 1_000n) + 1_000n) % 1_000n;
  return { date: Number((is - rest) / 1_000n), rest };
}
