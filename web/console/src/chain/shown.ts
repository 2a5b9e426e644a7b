// Asks for the bytes of the rows that are in view, and has what they show checked by them.
import { askApartly } from "../api/apart";
import type { Heads } from "../seal/check";
import { checkpointOf } from "../seal/proof";
import type { ChainMessage } from "./check";
import type { Crew } from "./crew";
import { type Rows, VerifyRows } from "./query";
import type { RowCheck, Shown, WithErasure } from "./rows";
import type { Subject } from "./verify";

/** Rows of a conversation as they are shown, and where they are to be found. */
export type InView = { subject: Subject; rows: Rows; shown: readonly Shown[] };

/** What was found of rows, each told by the very object that is shown. */
export type RowChecks = ReadonlyMap<Shown, RowCheck>;

/**
 * Checks rows, and their proofs where there are heads. Those for which the server gives no bytes are left out; without an
 * answer all of them are.
 */
export async function checkShown(
  send: typeof fetch,
  crew: Pick<Crew, "rows">,
  inView: InView,
  headsOf: (notes: readonly string[]) => Promise<Heads | null>,
  signal: AbortSignal,
): Promise<RowChecks> {
  const messages = await messagesOf(send, inView, signal);
  const checks = await crew.rows(inView.shown.map(covered), messages, await headsOf(notesOf(messages)));
  return new Map(inView.shown.flatMap((row, i) => (checks[i] ? [[row, checks[i]]] : [])));
}

/** The checkpoints that messages' proofs are for. */
export const notesOf = (messages: readonly ChainMessage[]): string[] =>
  [...new Set(messages.map(({ integrity }) => checkpointOf(integrity.proof ?? "")))].filter(Boolean);

// An answer ends early that would be too large.
async function messagesOf(send: typeof fetch, { subject, rows }: InView, signal: AbortSignal): Promise<WithErasure[]> {
  const of = { hash: subject.hash, thread: subject.kind === "thread", match: rows.match };
  const messages: WithErasure[] = [];
  try {
    while (messages.length < rows.count) {
      const left = { from: rows.from + messages.length, count: rows.count - messages.length };
      const { data } = await askApartly(send, VerifyRows, { ...of, ...left }, signal);
      const more = (data.thread ?? data.session)?.range.messages ?? [];
      if (more.length === 0) break;
      messages.push(...more);
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
  return messages;
}

// What a hash covers of a row, and not what else comes with it.
function covered(m: Shown): Shown {
  const { hash, prevHash, sequence, role, eventType, importance, channel, source, content, createdAt } = m;
  const { session, thread, owner, players, masterPlayer, hashtags, flag, masterItem, items, location, refs } = m;
  const things = { session, thread, owner, players, masterPlayer, hashtags, flag, masterItem, items, location, refs };
  return { hash, prevHash, sequence, role, eventType, importance, channel, source, content, createdAt, ...things };
}
