/** The pace at a moment, in milliseconds since 1970; null where it was not told. */
export type Sample = { at: number; appends: number | null; lag: number | null };

/** How far back the charts reach, in milliseconds. */
export const reach = 5 * 60_000;

/** The samples with one more, without those that are older than the charts reach. */
export function withSample(samples: readonly Sample[], sample: Sample): Sample[] {
  return [...samples.filter((s) => s.at > sample.at - reach), sample];
}
