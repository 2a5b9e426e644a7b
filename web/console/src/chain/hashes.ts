// The hashes of messages that a check has gone through, so that whatever is shown later can be held against them. Pure.
import { fromHex, toHex } from "./bytes";

const hashBytes = 32;

/** Hashes of messages of a session whose numbers follow one another, from `first` on, 32 bytes each. */
export type HashRun = { first: number; hashes: Uint8Array<ArrayBuffer> };

/** The hashes that messages state, in as few runs as their numbers allow. What is no hash is left out. */
export function runsOf(messages: readonly { sequence: number; hash: string }[]): HashRun[] {
  const runs: { first: number; hashes: string[] }[] = [];
  for (const { sequence, hash } of messages) {
    if (!/^[0-9a-f]{64}$/.test(hash)) continue;
    const run = runs.at(-1);
    if (run && run.first + run.hashes.length === sequence) run.hashes.push(hash);
    else runs.push({ first: sequence, hashes: [hash] });
  }
  return runs.map(({ first, hashes }) => ({ first, hashes: new Uint8Array(fromHex(hashes.join(""))) }));
}

/** The hashes that were checked of one session: 32 bytes for each message, and nothing else of it. */
export class CheckedHashes {
  private readonly runs: HashRun[] = [];

  add(run: HashRun): void {
    this.runs.push(run);
  }

  /** The hash of the message of that number as it was when it was checked; null if none was. */
  at(sequence: number): string | null {
    const run = this.runs.findLast((r) => sequence >= r.first && sequence < r.first + r.hashes.length / hashBytes);
    if (!run) return null;
    const from = (sequence - run.first) * hashBytes;
    return toHex(run.hashes.subarray(from, from + hashBytes));
  }
}
