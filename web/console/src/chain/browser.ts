// Recomputes sessions in this browser, and checks their proofs against one checkpoint.
import type { Client } from "urql";
import { askApartly } from "../api/apart";
import { words } from "../api/errors";
import type { ResultOf } from "../api/graphql";
import { Anchor, type SealProblem, type Standing } from "../seal/anchor";
import type { Heads } from "../seal/check";
import type { Head } from "../seal/checkpoint";
import { readPin } from "../seal/pin";
import { sourceOf } from "../seal/query";
import type { Finding } from "./check";
import { Crew } from "./crew";
import type { CheckedHashes } from "./hashes";
import { NamedHashes, VerifyAgain } from "./query";
import type { Again, SessionProgress } from "./session";
import { checkShown, type InView, notesOf, type RowChecks } from "./shown";
import { Tally } from "./tally";
import type { Amount, Progress, SessionEndpoint } from "./verify";
import { walk } from "./walk";
import type { WorkerAnswer } from "./worker";

/**
 * How far this browser is. sessions tells it by session's hash. standing: how the seal stands to what this browser
 * remembers, null until it is known; at: when that was, RFC 3339. proved counts messages in the signed tree;
 * foundProofs, of what was found, what is wrong with proofs. walked: all is recomputed, and what was altered of what is
 * wrong may still be looked for.
 */
export type Recomputed = Progress<Finding> & {
  foundProofs: Amount;
  erased: number;
  proved: number;
  unproved: number;
  walked: boolean;
  standing: Standing | null;
  at: string | null;
  sessions: ReadonlyMap<string, SessionProgress>;
  /** The hashes that were checked, by session. */
  hashes: ReadonlyMap<string, Pick<CheckedHashes, "at">>;
  /** What was found of the rows in view, which come before their sessions; null until they were checked. */
  rows: RowChecks | null;
};

/** Nothing recomputed yet. */
export const nothingRecomputed: Recomputed = {
  checked: 0,
  total: 0,
  breaks: [],
  found: { n: 0, least: false },
  foundProofs: { n: 0, least: false },
  done: false,
  error: null,
  erased: 0,
  proved: 0,
  unproved: 0,
  walked: false,
  standing: null,
  at: null,
  sessions: new Map(),
  hashes: new Map(),
  rows: null,
};

const mostNamed = 3_000; // hashes that are asked for, to find out what was altered
const mostWithheld = 100; // messages without a proof, asked for again, until no more are asked for

/**
 * Recomputes sessions, one after the other, and reports after each step; what is in view before all others. Stops soon
 * after abort. Nothing of an answer is kept once it is checked; the next ones are on their way meanwhile.
 */
export async function inBrowser(
  client: Client,
  send: typeof fetch,
  endpoints: SessionEndpoint[],
  inView: InView | null,
  signal: AbortSignal,
  report: (change: Partial<Recomputed>) => void,
): Promise<void> {
  const tally = new Tally();
  const { hashes } = tally;
  const now = () => new Date().toISOString();
  const explicable = new Set<string>();
  let withheld = false; // whether there are more messages without the proof that they must have
  const show = ({ progress, explicable: more, hashes: runs }: WorkerAnswer) => {
    if (!progress) return;
    tally.take(progress, runs);
    if (more) explicable.add(progress.session);
    report(tally.told(withheld));
  };
  let started: Crew | null = null;
  try {
    const crew = new Crew(); // a browser may refuse to start a Worker
    started = crew;
    signal.addEventListener("abort", () => crew.close());
    const anchor = await beginAnchor(client, now);
    const stand = () => report({ standing: anchor.standing, at: now() });
    stand();
    let turn: Promise<unknown> = Promise.resolve();
    // One after the other: each checkpoint is held against the one before.
    const heads = (notes: readonly string[]) => {
      const found = turn.then(() => headsOf(notes, anchor));
      turn = found.catch(() => undefined);
      return found;
    };
    const stepped = (answer: WorkerAnswer) => {
      show(answer);
      stand();
    };
    report({ rows: inView ? await checkShown(send, crew, inView, heads, signal) : new Map() });
    stand();
    for (const end of endpoints) {
      show(await crew.ask({ kind: "begin", session: end.hash, length: end.length, head: end.head }));
      await walk({ send, crew, headsOf: heads, show: stepped, signal }, end);
      if (signal.aborted) return;
      let ended = await crew.ask({ kind: "end" });
      show(ended);
      const before = ended.progress?.found.proofs ?? 0;
      while (ended.suspects.length > 0 && !anchor.standing.problem) {
        const asked = await askAgain(send, end.hash, ended.suspects, hashes, signal);
        const found = await heads(notesOf(asked.flatMap((a) => a.message ?? [])));
        if (!found) break;
        ended = await crew.ask({ kind: "again", asked, heads: found });
        const missing = (ended.progress?.found.proofs ?? 0) - before;
        withheld ||= missing >= mostWithheld && ended.suspects.length > 0;
        show(ended);
        if (missing >= mostWithheld) break;
      }
    }
    report({ walked: true });
    const named = explicable.size > 0 ? await namedHashes(send, signal) : [];
    for (const session of explicable) {
      let answer = await crew.ask({ kind: "explain", session, hashes: named });
      show(answer);
      while (answer.explicable) {
        answer = await crew.ask({ kind: "explain", session, hashes: [] });
        show(answer);
      }
    }
    stand();
    report({ done: true });
  } catch (error) {
    if (!signal.aborted) report({ error: words(error) });
  } finally {
    started?.close();
  }
}

// Whoever cannot be asked of the seal can still be asked of the chain.
async function beginAnchor(client: Client, now: () => string): Promise<Pick<Anchor, "standing" | "cover">> {
  try {
    return await Anchor.begin(sourceOf(client), localStorage, now);
  } catch (error) {
    const problem: SealProblem = {
      kind: "unproved",
      detail: { id: "chain.standing.silent", values: { why: words(error) } },
    };
    const standing = { before: readPin(localStorage), checkpoint: null, problem };
    return { standing, cover: () => Promise.resolve(problem) };
  }
}

// The heads of the checkpoints that proofs are for, as far as they hold; null if the seal cannot be believed.
async function headsOf(notes: readonly string[], anchor: Pick<Anchor, "standing" | "cover">): Promise<Heads | null> {
  const heads = new Map<string, Head>();
  for (const note of notes) {
    const found = await anchor.cover(note);
    if (!("kind" in found)) heads.set(note, found);
  }
  return anchor.standing.problem ? null : heads;
}

// What is not known is not tried.
async function namedHashes(send: typeof fetch, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  let after: string | null = null;
  try {
    do {
      const variables: { after: string | null; first: boolean } = { after, first: after === null };
      const answer: { data: ResultOf<typeof NamedHashes> } = await askApartly(send, NamedHashes, variables, signal);
      const page: ResultOf<typeof NamedHashes> = answer.data;
      for (const list of [page.components, page.threads, page.sessions]) {
        found.push(...(list?.edges.map((e) => e.node.hash) ?? []));
      }
      after = page.components.pageInfo.hasNextPage ? page.components.pageInfo.endCursor : null;
    } while (after !== null && found.length < mostNamed && !signal.aborted);
  } catch {
    return found;
  }
  return found;
}

// One by one, as each is to be found wherever it stands.
async function askAgain(
  send: typeof fetch,
  session: string,
  suspects: readonly number[],
  hashes: ReadonlyMap<string, Pick<CheckedHashes, "at">>,
  signal: AbortSignal,
): Promise<Again[]> {
  const asked: Again[] = [];
  for (const sequence of suspects) {
    const hash = hashes.get(session)?.at(sequence) ?? "";
    const { data, problem } = await askApartly(send, VerifyAgain, { hash }, signal);
    asked.push({ sequence, hash, message: data.message, why: problem });
  }
  return asked;
}
