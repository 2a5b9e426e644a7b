// Checks messages that are in view: before the whole chain comes to them, and whenever they are shown anew. Pure.
import { checkSeal, type Heads } from "../seal/check";
import { type ChainMessage, checkLink, type Finding } from "./check";
import { checkShown } from "./erasure";

/** A message as a list shows it. */
export type Shown = Omit<ChainMessage, "attachments" | "ambient" | "integrity">;

/** A message with what the server gives as the one that records its erasure. */
export type WithErasure = ChainMessage & { recorded: { erasure: ChainMessage | null } };

/**
 * What is known of a message by itself, as it is shown. linked: it names the one before it, which was there, too. proved: it
 * is in the tree. Where its content is gone and nothing is found, the erasure that says so was recomputed.
 */
export type RowCheck = { findings: Finding[]; linked: boolean; proved: boolean };

/**
 * Checks what is shown of messages of any sessions against the bytes that their hashes cover, which another answer gives:
 * each with the one before it in its session if that is among them. null: there are no bytes for a hash that is shown.
 */
export function checkRows(
  shown: readonly Shown[],
  messages: readonly WithErasure[],
  heads: Heads | null,
): (RowCheck | null)[] {
  const whole = new Map(messages.map((m) => [m.hash, m]));
  const places = new Map(messages.map((m) => [placeOf(m.session.hash, m.sequence), m]));
  return shown.map((row) => {
    const given = whole.get(row.hash);
    if (!given) return null;
    const m = { ...given, ...row, integrity: given.integrity };
    const { hash, findings } = checkShown(m, given.recorded.erasure);
    const previous = places.get(placeOf(m.session.hash, m.sequence - 1)) ?? null;
    const known = previous !== null || m.sequence === 1;
    const links = known ? checkLink(previous, m) : [];
    const seal = heads && checkSeal(m, hash, heads);
    const all = [...findings, ...links, ...(seal?.findings ?? [])];
    return { findings: all, linked: known && links.length === 0, proved: seal?.state === "proved" };
  });
}

const placeOf = (session: string, sequence: number) => `${session} ${sequence}`;
