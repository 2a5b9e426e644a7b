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
const end = Number.MAX_SAFE_INTEGER; // as far as the session goes
const ahead = 3; // stretches on their way: as many as a server answers for one player at a time

/** What it takes. headsOf: as of the anchor, for the checkpoints that proofs are for. show: is told each step. */
export type Walk = {
  send: typeof fetch;
  crew: Crew;
  headsOf: (notes: readonly string[]) => Promise<Heads | null>;
  show: (answer: WorkerAnswer) => void;
  signal: AbortSignal;
};

// Where the walk is: the sequence of the last message, and the cursor behind it, or one before it where nothing more was
// said to follow; null at the beginning.
type Place = { sequence: number; cursor: string | null; more: boolean };

// What came of a stretch. absent: it could not be had, or be read.
type Outcome = CheckedStretch | "broken" | "empty" | "absent";

/**
 * Checks a session from its first message to its last, and what was appended behind that where it may say what was erased
 * meanwhile. The crew has begun with it. Stops soon after abort.
 */
export async function walk(w: Walk, session: SessionEndpoint): Promise<void> {
  let unrecorded = false; // whether contents are gone whose erasure was not seen
  const show = (answer: WorkerAnswer) => {
    if (answer.progress) unrecorded = answer.progress.gone.length > 0;
    w.show(answer);
  };
  const told = { ...w, show };
  const at = await along(told, session);
  if (at && unrecorded) await behind(told, session.hash, at);
}

// From the first message to the last. null: it was stopped.
async function along(w: Walk, { hash, length }: SessionEndpoint): Promise<Place | null> {
  const coming = new Map<number, Promise<Outcome>>(); // by the message that they begin behind
  let at: Place = { sequence: 0, cursor: null, more: true };
  let reach = step;
  let wrong = 0; // where the stretch ended in which something does not hold
  const from = (after: number): Promise<Outcome> => {
    const upto = reach === step && after + reach >= length ? end : after + reach; // what is appended meanwhile, too
    const asked = coming.get(after) ?? stretch(w, hash, after, upto);
    coming.set(after, asked);
    return asked;
  };
  while (at.more) {
    const next = from(at.sequence);
    for (let k = 1; k < ahead && reach === step && at.sequence + k * step < length; k++) from(at.sequence + k * step);
    const outcome = await next;
    coming.delete(at.sequence);
    if (w.signal.aborted) return null;
    const held = await taken(w, outcome, at);
    if (!held && outcome === "broken" && reach > leastStep) {
      wrong = at.sequence + reach;
      reach = Math.max(leastStep, Math.ceil(reach / 2)); // nearer to what does not hold
      continue;
    }
    at = held ?? (await page(w, hash, at));
    if (w.signal.aborted) return null;
    // What comes behind what does not hold may not hold either: farther again only where it does.
    if (!held) reach = leastStep;
    else if (at.sequence >= wrong) reach = Math.min(step, 2 * reach);
    for (const after of coming.keys()) if (after < at.sequence) coming.delete(after);
  }
  return at;
}

// Goes on behind the last message. Stretches that are on their way together are not of one moment: of what is erased
// meanwhile, an earlier one may lack the content and the last one, read before, the message that says so.
async function behind(w: Walk, session: string, last: Place): Promise<void> {
  let at: Place = { ...last, more: true };
  while (at.more) {
    const outcome = await stretch(w, session, at.sequence, end);
    if (w.signal.aborted || outcome === "empty") return;
    at = (await taken(w, outcome, at)) ?? (await page(w, session, at, at.sequence));
    if (w.signal.aborted) return;
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
async function taken({ crew, show }: Walk, checked: Outcome, at: Place): Promise<Place | null> {
  if (typeof checked === "string") return null;
  const answer = await crew.ask({ kind: "held", checked });
  if (!answer.progress) return null;
  const { held } = checked;
  show({ ...answer, hashes: [{ first: held.first.sequence, hashes: held.hashes }] });
  return { sequence: held.last.sequence, cursor: held.next ?? at.cursor, more: held.next !== null };
}

// Checks some messages one by one, with all that is said of each, but for those up to a number, which were checked before.
async function page(
  { send, crew, headsOf, show, signal }: Walk,
  session: string,
  at: Place,
  known = 0,
): Promise<Place> {
  const { body, response } = await askBytes(send, VerifyPage, { session, after: at.cursor }, signal);
  const { page, errors } = await crew.ask({ kind: "page", body }, [body]);
  if (errors) throw failure(errors, response);
  if (!page) return { ...at, more: false }; // the session is gone: its end will find its tail missing
  const answer = await crew.ask({ kind: "check", known, heads: await headsOf(page.notes) });
  show(answer);
  // A page that goes no further is the last, whatever it says of more.
  const more = page.next !== null && page.next !== at.cursor && page.count > 0;
  return { sequence: answer.progress?.upTo ?? at.sequence, cursor: page.next ?? at.cursor, more };
}

// What the server gave instead of a page.
function failure(errors: { message: string }[], response: Response): CombinedError {
  return errors.length > 0
    ? new CombinedError({ graphQLErrors: errors, response })
    : new CombinedError({ networkError: new Error(`HTTP ${response.status}`), response });
}
