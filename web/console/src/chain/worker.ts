/// <reference lib="webworker" />
// Runs the checks off the main thread, and reads what the server answered. One worker checks one session after another by
// SessionCheck; it and others check stretches, which it is then told of in their order.
import type { ResultOf } from "../api/graphql";
import type { Heads } from "../seal/check";
import type { Head } from "../seal/checkpoint";
import { checkpointOf } from "../seal/proof";
import { Seen } from "./altered";
import { lanesHere } from "./batch";
import type { ChainMessage } from "./check";
import type { Occurring } from "./fields";
import { type HashRun, runsOf } from "./hashes";
import type { VerifyPage } from "./query";
import { checkRows, type Shown, type WithErasure } from "./rows";
import { type Again, Room, SessionCheck, type SessionProgress } from "./session";
import { type Held, Stretches, startOf } from "./stretch";

/**
 * What the page sends. Each is answered once. page: the answer to VerifyPage as it came, which is read and waits for
 * check, but for the messages up to the number known. heads, head: null where no proofs are to be checked. fetch: an address of GET /stretch, whose answer waits here
 * for stretch or drop, so that the page's own thread never sees it. held: what was found of one, by this or another worker.
 */
export type WorkerRequest =
  | { kind: "begin"; session: string; length: number; head: string }
  | { kind: "page"; body: ArrayBuffer }
  | { kind: "check"; known: number; heads: Heads | null }
  | { kind: "end" }
  | { kind: "again"; asked: Again[]; heads: Heads }
  | { kind: "explain"; session: string; hashes: string[] }
  | { kind: "held"; checked: CheckedStretch }
  | { kind: "rows"; shown: Shown[]; messages: WithErasure[]; heads: Heads | null }
  | { kind: "fetch"; address: string }
  | { kind: "drop"; address: string }
  | { kind: "stretch"; address: string; session: string; head: Head | null };

/** What goes between the page and a worker: answers to what takes long come behind others, so each names its request. */
export type Numbered<Content> = { id: number; content: Content };

/** A stretch that came: the checkpoint that it is for, null if there is none. empty: it has no message. */
export type FetchedStretch = { note: string | null; empty: boolean };

/** A stretch in which all holds, and what occurs in it. */
export type CheckedStretch = { held: Held; occurring: Occurring };

/** A page that was read: its messages, the checkpoints that their proofs are for, and the cursor of the one after it. */
export type ReadPage = { count: number; notes: string[]; next: string | null };

/**
 * The state after a request, null if it is what it was. suspects: the numbers of messages that are to be asked for again;
 * those are given at the end, and after each "again". hashes: those of the messages that were checked. explicable: whether
 * it can be asked to explain what it found, once all sessions have ended. page: what was read, null if there is no such
 * session. errors: what the server gave instead;
 * empty if it cannot be read.
 */
export type WorkerAnswer = {
  progress: SessionProgress | null;
  suspects: number[];
  hashes: HashRun[];
  explicable: boolean;
  page: ReadPage | null;
  errors: { message: string }[] | null;
};

type Answer = { data?: ResultOf<typeof VerifyPage> | null; errors?: { message: string }[] };

/** A request about the session that is being checked. All others are answered by themselves. */
export type OfSession = Exclude<WorkerRequest, { kind: "rows" | "fetch" | "drop" | "stretch" }>;

const stretches = new Stretches(lanesHere());
const fetched = new Map<string, ArrayBuffer>();
const seen = new Seen();
const room = new Room();
const explicable = new Map<string, SessionCheck>();
let check: SessionCheck | null = null;
let waiting: ChainMessage[] = [];

self.onmessage = ({ data: { id, content } }: MessageEvent<Numbered<WorkerRequest>>) => {
  const post = (answer: unknown, moved: Transferable[] = []) =>
    self.postMessage({ id, content: answer } satisfies Numbered<unknown>, moved);
  if (content.kind === "fetch") void fetchStretch(content.address).then(post);
  else if (content.kind === "drop") post(fetched.delete(content.address));
  else if (content.kind === "rows") post(checkRows(content.shown, content.messages, content.heads));
  else if (content.kind === "stretch") {
    const checked = checkStretch(content.address, content.session, content.head);
    post(checked, checked ? [checked.held.hashes.buffer] : []);
  } else {
    const answer = ofSession(content);
    const moved = answer.hashes.map((run) => run.hashes.buffer);
    post(answer, moved);
  }
};

function ofSession(request: OfSession): WorkerAnswer {
  if (request.kind === "begin") check = new SessionCheck(request.session, request.length, request.head, seen, room);
  if (request.kind === "explain") check = explicable.get(request.session) ?? null;
  if (!check) throw new Error("a page before the beginning");
  if (request.kind === "check") waiting = waiting.filter((m) => m.sequence > request.known);
  const hashes = request.kind === "check" ? runsOf(waiting) : [];
  const progress = answer(check, request);
  if (check.explicable && progress) explicable.set(progress.session, check);
  return {
    progress,
    suspects: request.kind === "end" || request.kind === "again" ? check.suspects() : [],
    hashes,
    explicable: check.explicable,
    ...(request.kind === "page" ? read(request.body) : { page: null, errors: null }),
  };
}

function answer(check: SessionCheck, request: OfSession): SessionProgress | null {
  switch (request.kind) {
    case "page":
      return null;
    case "check":
      return check.page(waiting.splice(0), request.heads);
    case "held":
      return check.stretch(request.checked.held, request.checked.occurring);
    case "end":
      return check.end();
    case "again":
      return check.again(request.asked, request.heads);
    case "explain":
      seen.know({ hashes: request.hashes });
      return check.explain();
    default:
      return check.page([], null);
  }
}

// Null if it cannot be had, or be read.
async function fetchStretch(address: string): Promise<FetchedStretch | null> {
  try {
    const response = await fetch(address, { credentials: "same-origin", cache: "no-store" });
    if (!response.ok) return null;
    const body = await response.arrayBuffer();
    const start = startOf(body);
    if (!start.empty) fetched.set(address, body);
    return start;
  } catch {
    return null;
  }
}

function checkStretch(address: string, session: string, head: Head | null): CheckedStretch | null {
  const body = fetched.get(address);
  fetched.delete(address);
  if (!body) return null;
  const held = stretches.check(body, session, head);
  const occurring = stretches.fields.occurred();
  return held && { held, occurring };
}

function read(body: ArrayBuffer): Pick<WorkerAnswer, "page" | "errors"> {
  let answer: Answer;
  try {
    answer = JSON.parse(new TextDecoder().decode(body)) as Answer;
  } catch {
    return { page: null, errors: [] };
  }
  if (!answer.data) return { page: null, errors: answer.errors ?? [] };
  const messages = answer.data.session?.messages;
  if (!messages) return { page: null, errors: null };
  waiting = messages.edges.map((e) => e.node);
  const notes = new Set(waiting.map((m) => checkpointOf(m.integrity.proof ?? "")));
  notes.delete("");
  const { hasNextPage, endCursor } = messages.pageInfo;
  return { page: { count: waiting.length, notes: [...notes], next: hasNextPage ? endCursor : null }, errors: null };
}
