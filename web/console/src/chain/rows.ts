// Checks messages that are in view before the whole chain comes to them. Pure.
import { checkSeal, type Heads } from "../seal/check";
import { type ChainMessage, checkLink, checkMessage, type Finding } from "./check";

/** What is known of a message by itself. linked: it names the one before it, which was there, too. proved: it is in the tree. */
export type RowCheck = { hash: string; findings: Finding[]; linked: boolean; proved: boolean };

/** Checks messages of any sessions, each with the one before it in its session if that is among them. */
export function checkRows(messages: readonly ChainMessage[], heads: Heads | null): RowCheck[] {
  const places = new Map(messages.map((m) => [placeOf(m.session.hash, m.sequence), m]));
  return messages.map((m) => {
    const { hash, findings } = checkMessage(m);
    const previous = places.get(placeOf(m.session.hash, m.sequence - 1)) ?? null;
    const known = previous !== null || m.sequence === 1;
    const links = known ? checkLink(previous, m) : [];
    const seal = heads && checkSeal(m, hash, heads);
    const all = [...findings, ...links, ...(seal?.findings ?? [])];
    return { hash: m.hash, findings: all, linked: known && links.length === 0, proved: seal?.state === "proved" };
  });
}

const placeOf = (session: string, sequence: number) => `${session} ${sequence}`;
