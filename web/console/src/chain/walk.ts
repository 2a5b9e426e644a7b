// Walks along a session's chain: by stretches, several on their way at a time, and message by message where one does not hold.
import { CombinedError } from "urql";
import { askBytes } from "../api/apart";
import type { Heads } from "../seal/check";
import type { Crew } from "./crew";
import { VerifyPage } from "./query";
import type { SessionEndpoint } from "./verify";
import type { CheckedStretch, WorkerAnswer } from "./worker";

const step = 2_000; // messages of a stretch
const leastStep = 100; // that are not checked one by one for one that does not hold
const last = Number.MAX_SAFE_INTEGER;
const ahead = 3; // stretches on their way: as many as a server answers for one player at a time

/** What it takes. headsOf: as of the anchor, for the checkpoints that proofs are for. show: is told each step. */
export type Walk = {
  send: typeof fetch;
  crew: Crew;
  headsOf: (notes: readonly string[]) => Promise<Heads | null>;
  show: (answer: WorkerAnswer) => void;
  signal: AbortSignal;
};

// Where the walk is: the sequence of the last message, and the cursor behind it; null at the beginning.
type Place = { sequence: number; cursor: string | null; more: boolean };

// What came of a stretch. absent: it could not be had, or be read.
type Outcome = CheckedStretch | "broken" | "absent";

/** Checks a session from its first message to its last. The crew has begun with it. Stops soon after abort. */
export async function walk(w: Walk, { hash, length }: SessionEndpoint): Promise<void> {
  const from = Array.from({ length: Math.max(1, Math.ceil(length / step)) }, (_, i) => i * step);
  const coming = new Map<number, Promise<Outcome>>();
  let at: Place = { sequence: 0, cursor: null, more: true };
  for (const [i, after] of from.entries()) {
    for (let k = i; k < Math.min(i + ahead, from.length); k++) {
      const next = from[k] ?? 0;
      if (!coming.has(next)) coming.set(next, stretch(w, hash, next, from[k + 1] ?? last));
    }
    const upto = from[i + 1] ?? last; // what was appended meanwhile, too
    let reach = step;
    while (at.more && at.sequence < upto) {
      const known = at.sequence === after && reach === step && coming.get(after);
      const outcome = await (known || stretch(w, hash, at.sequence, Math.min(upto, at.sequence + reach)));
      if (w.signal.aborted) return;
      const behind = await taken(w, outcome);
      if (!behind && outcome === "broken" && reach > leastStep) {
        reach = Math.ceil(reach / 2); // nearer to what does not hold
        continue;
      }
      at = behind ?? (await page(w, hash, at));
      if (w.signal.aborted) return;
      reach = behind && reach < step ? reach : step;
    }
    coming.delete(after);
  }
}

// Asks for a stretch and has it checked. What cannot be had in this way is asked for in another, which says why.
async function stretch(w: Walk, session: string, after: number, upto: number): Promise<Outcome> {
  const address = `/stretch?session=${session}&after=${after}&upto=${upto}`;
  try {
    return await w.crew.stretch(address, session, async (note) => (await w.headsOf([note]))?.get(note) ?? null);
  } catch {
    return "absent";
  }
}

// Goes on behind a stretch, if it holds and follows.
async function taken({ crew, show }: Walk, checked: Outcome): Promise<Place | null> {
  if (typeof checked === "string") return null;
  const answer = await crew.ask({ kind: "held", checked });
  if (!answer.progress) return null;
  const { held } = checked;
  show({ ...answer, hashes: [{ first: held.first.sequence, hashes: held.hashes }] });
  return { sequence: held.last.sequence, cursor: held.next, more: held.next !== null };
}

// Checks some messages one by one, with all that is said of each.
async function page({ send, crew, headsOf, show, signal }: Walk, session: string, at: Place): Promise<Place> {
  const { body, response } = await askBytes(send, VerifyPage, { session, after: at.cursor }, signal);
  const { page, errors } = await crew.ask({ kind: "page", body }, [body]);
  if (errors) throw failure(errors, response);
  if (!page) return { ...at, more: false }; // the session is gone: its end will find its tail missing
  const answer = await crew.ask({ kind: "check", heads: await headsOf(page.notes) });
  show(answer);
  return { sequence: answer.progress?.upTo ?? at.sequence, cursor: page.next, more: page.next !== null };
}

// What the server gave instead of a page.
function failure(errors: { message: string }[], response: Response): CombinedError {
  return errors.length > 0
    ? new CombinedError({ graphQLErrors: errors, response })
    : new CombinedError({ networkError: new Error(`HTTP ${response.status}`), response });
}
