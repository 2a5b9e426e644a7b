import { type Climbed, readPath } from "./merkle";
import { maxNote, SealError } from "./note";

/** A C2SP tlog-proof that was read and not yet checked. checkpoint is a signed note, which is for openCheckpoint. */
export type Proof = { index: number; path: Uint8Array[]; checkpoint: string };

const first = "c2sp.org/tlog-proof@v1";

/** Reads a tlog-proof. Throws SealError unless it is written the one way that it is. before: as for checkInclusion. */
export function parseProof(text: string, before?: Climbed): Proof {
  if (text.length > 2 * maxNote) throw new SealError({ id: "chain.proof.long" });
  const at = text.indexOf("\n\n");
  const [label, place, ...hashes] = text.slice(0, Math.max(at, 0)).split("\n");
  const index = /^index (0|[1-9]\d{0,15})$/.exec(place ?? "")?.[1];
  if (label !== first || index === undefined || !Number.isSafeInteger(Number(index))) {
    throw new SealError({ id: "chain.proof.unread" });
  }
  return {
    index: Number(index),
    path: before ? before.read(hashes) : readPath(hashes),
    checkpoint: text.slice(at + 2),
  };
}

/** The checkpoint of a proof as it stands there, without a look at the rest. */
export function checkpointOf(proof: string): string {
  const at = proof.indexOf("\n\n");
  return at < 0 ? "" : proof.slice(at + 2);
}
