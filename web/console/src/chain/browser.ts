// Recomputes sessions in this browser, and checks their proofs against one checkpoint.
import { type Client, CombinedError } from "urql";
import { askApartly, askBytes } from "../api/apart";
import { words } from "../api/errors";
import { Anchor, type SealProblem, type Standing } from "../seal/anchor";
import type { Heads } from "../seal/check";
import type { Head } from "../seal/checkpoint";
import { readPin } from "../seal/pin";
import { checkpointOf } from "../seal/proof";
import { sourceOf } from "../seal/query";
import { SaidError } from "../words/said";
import type { Finding } from "./check";
import { VerifyAgain, VerifyPage } from "./query";
import type { Again, SessionProgress } from "./session";
import type { Progress, SessionEndpoint } from "./verify";
import type { WorkerAnswer, WorkerRequest } from "./worker";

/**
 * How far this browser is. sessions tells it by session's hash. standing: how the seal stands to what this browser
 * remembers, null until it is known; at: when that was, RFC 3339. proved counts messages in the signed tree.
 */
export type Recomputed = Progress<Finding> & {
  erased: number;
  proved: number;
  unproved: number;
  standing: Standing | null;
  at: string | null;
  sessions: ReadonlyMap<string, SessionProgress>;
};

/** Nothing recomputed yet. */
export const nothingRecomputed: Recomputed = {
  checked: 0,
  total: 0,
  breaks: [],
  done: false,
  error: null,
  erased: 0,
  proved: 0,
  unproved: 0,
  standing: null,
  at: null,
  sessions: new Map(),
};

/**
 * Recomputes sessions, one after the other, and reports after each step. Stops soon after abort. Nothing of a page is
 * kept once it is checked; the next one is on its way meanwhile.
 */
export async function inBrowser(
  client: Client,
  send: typeof fetch,
  endpoints: SessionEndpoint[],
  signal: AbortSignal,
  report: (change: Partial<Recomputed>) => void,
): Promise<void> {
  const worker = new ChainWorker();
  const sessions = new Map<string, SessionProgress>();
  const now = () => new Date().toISOString();
  const show = ({ progress }: WorkerAnswer) => {
    if (!progress) return;
    sessions.set(progress.session, progress);
    const all = [...sessions.values()];
    const sum = (of: (p: SessionProgress) => number) => all.reduce((n, p) => n + of(p), 0);
    report({
      checked: sum((p) => p.checked),
      erased: sum((p) => p.erased),
      proved: sum((p) => p.proved),
      unproved: sum((p) => p.unproved.length),
      breaks: all.flatMap((p) => p.findings),
      sessions: new Map(sessions),
    });
  };
  try {
    const anchor = await beginAnchor(client, now);
    const stand = () => report({ standing: anchor.standing, at: now() });
    stand();
    for (const end of endpoints) {
      show(await worker.ask({ kind: "begin", session: end.hash, length: end.length, head: end.head }));
      const pageAfter = (after: string | null) => askBytes(send, VerifyPage, { session: end.hash, after }, signal);
      let coming: ReturnType<typeof pageAfter> | null = pageAfter(null);
      while (coming) {
        const { body, response } = await coming;
        if (signal.aborted) return;
        const { page, errors }: WorkerAnswer = await worker.ask({ kind: "page", body }, [body]);
        if (errors) throw failure(errors, response);
        if (!page) break; // the session is gone: end() finds its tail missing
        coming = page.next === null ? null : pageAfter(page.next);
        coming?.catch(() => undefined); // it is waited for below, unless what comes first fails, too
        show(await worker.ask({ kind: "check", heads: await headsOf(page.notes, anchor) }));
        stand();
      }
      const ended = await worker.ask({ kind: "end" });
      show(ended);
      if (ended.suspects.length > 0 && !anchor.standing.problem) {
        const asked = await askAgain(send, ended.suspects, signal);
        const notes = asked.map(({ message: { integrity } }) => checkpointOf(integrity.proof ?? ""));
        const heads = await headsOf([...new Set(notes)].filter(Boolean), anchor);
        if (heads) show(await worker.ask({ kind: "again", asked, heads }));
      }
    }
    stand();
    report({ done: true });
  } catch (error) {
    if (!signal.aborted) report({ error: words(error) });
  } finally {
    worker.close();
  }
}

// What the server gave instead of a page.
function failure(errors: { message: string }[], response: Response): CombinedError {
  return errors.length > 0
    ? new CombinedError({ graphQLErrors: errors, response })
    : new CombinedError({ networkError: new Error(`HTTP ${response.status}`), response });
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

async function askAgain(send: typeof fetch, hashes: readonly string[], signal: AbortSignal): Promise<Again[]> {
  const asked: Again[] = [];
  for (const hash of hashes) {
    if (signal.aborted) return asked;
    const { data, problem } = await askApartly(send, VerifyAgain, { hash }, signal);
    if (data.message) asked.push({ message: data.message, why: problem });
  }
  return asked;
}

/** SessionCheck in a worker: one question at a time, each answered by the state after it. */
class ChainWorker {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

  ask(request: WorkerRequest, moved: Transferable[] = []): Promise<WorkerAnswer> {
    return new Promise((resolve, reject) => {
      this.worker.onmessage = (event: MessageEvent<WorkerAnswer>) => resolve(event.data);
      this.worker.onerror = (event) =>
        reject(event.message ? new Error(event.message) : new SaidError({ id: "chain.failed" }));
      this.worker.postMessage(request, moved);
    });
  }

  close(): void {
    this.worker.terminate();
  }
}
