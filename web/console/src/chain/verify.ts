// Checks every session of a thread twice: by recomputing it in this browser, and by asking the server. Each has its
// own progress, findings and failure, so that neither can speak for the other.
import type { Client as Socket } from "graphql-ws";
import { type Client, type CombinedError, stringifyDocument } from "urql";
import { codeOf } from "../api/errors";
import type { ResultOf } from "../api/graphql";
import { ask } from "../api/query";
import type { Finding } from "./check";
import { ServerCheck, SessionEnd, ThreadSessions, VerifyPage } from "./query";
import type { SessionProgress } from "./session";
import type { WorkerRequest } from "./worker";

/** A break as the server reports it. */
export type ServerBreak = ResultOf<typeof ServerCheck>["verificationProgress"]["breaks"][number];

/** How far one of the two checks is. error: it could not be carried through, so nothing follows for the rest. */
export type Progress<Break> = { checked: number; total: number; breaks: Break[]; done: boolean; error: string | null };

/** How far both checks are. sessions tells by session's hash how far this browser came. */
export type Verification = {
  browser: Progress<Finding> & { erased: number; sessions: ReadonlyMap<string, SessionProgress> };
  server: Progress<ServerBreak>;
};

/** A session to check, with the end that it states. */
export type SessionEndpoint = { hash: string; length: number; head: string };

/** What to check: a session, or every session that holds a message of a thread. */
export type Subject = { kind: "thread" | "session"; hash: string };

/** Nothing checked yet. */
export const nothingChecked: Verification = {
  browser: { checked: 0, total: 0, breaks: [], done: false, error: null, erased: 0, sessions: new Map() },
  server: { checked: 0, total: 0, breaks: [], done: false, error: null },
};

/** Carries out both checks and reports after each step. Resolves when both have ended; stops soon after abort. */
export async function verify(
  client: Client,
  socket: Socket,
  subject: Subject,
  report: (v: Verification) => void,
  signal: AbortSignal,
): Promise<void> {
  let now = nothingChecked;
  const set = (change: Partial<Verification>) => {
    if (signal.aborted) return;
    now = { ...now, ...change };
    report(now);
  };
  let sessions: SessionEndpoint[];
  try {
    sessions = await endpoints(client, subject);
  } catch (error) {
    const reason = words(error);
    set({ browser: { ...now.browser, error: reason }, server: { ...now.server, error: reason } });
    return;
  }
  const total = sessions.reduce((n, s) => n + s.length, 0);
  set({ browser: { ...now.browser, total }, server: { ...now.server, total } });
  await Promise.all([
    inBrowser(client, sessions, signal, (browser) => set({ browser: { ...now.browser, ...browser } })),
    byServer(socket, sessions, signal, (server) => set({ server: { ...now.server, ...server } })),
  ]);
}

async function endpoints(client: Client, subject: Subject): Promise<SessionEndpoint[]> {
  if (subject.kind === "session") {
    const { session } = await ask(client, SessionEnd, { hash: subject.hash });
    return session ? [session] : [];
  }
  const all: SessionEndpoint[] = [];
  let after: string | null = null;
  do {
    const { sessions }: ResultOf<typeof ThreadSessions> = await ask(client, ThreadSessions, {
      thread: subject.hash,
      after,
    });
    all.push(...sessions.edges.map((e) => e.node));
    after = sessions.pageInfo.hasNextPage ? sessions.pageInfo.endCursor : null;
  } while (after);
  return all;
}

type Report<T> = (change: Partial<T>) => void;

async function inBrowser(
  client: Client,
  endpoints: SessionEndpoint[],
  signal: AbortSignal,
  report: Report<Verification["browser"]>,
): Promise<void> {
  const worker = new ChainWorker();
  const sessions = new Map<string, SessionProgress>();
  const show = (progress: SessionProgress) => {
    sessions.set(progress.session, progress);
    const all = [...sessions.values()];
    const sum = (of: (p: SessionProgress) => number) => all.reduce((n, p) => n + of(p), 0);
    report({
      checked: sum((p) => p.checked),
      erased: sum((p) => p.erased),
      breaks: all.flatMap((p) => p.findings),
      sessions: new Map(sessions),
    });
  };
  try {
    for (const end of endpoints) {
      show(await worker.ask({ kind: "begin", session: end.hash, length: end.length, head: end.head }));
      let after: string | null = null;
      do {
        if (signal.aborted) return;
        const data: ResultOf<typeof VerifyPage> = await ask(client, VerifyPage, { session: end.hash, after });
        const page = data.session?.messages;
        if (!page) break; // the session is gone: end() finds its tail missing
        show(await worker.ask({ kind: "page", messages: page.edges.map((e) => e.node) }));
        after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
      } while (after);
      show(await worker.ask({ kind: "end" }));
    }
    report({ done: true });
  } catch (error) {
    report({ error: words(error) });
  } finally {
    worker.close();
  }
}

async function byServer(
  socket: Socket,
  endpoints: SessionEndpoint[],
  signal: AbortSignal,
  report: Report<Verification["server"]>,
): Promise<void> {
  let checked = 0;
  let breaks: ServerBreak[] = [];
  try {
    for (const { hash } of endpoints) {
      const last = await follow(socket, hash, signal, (p) =>
        report({ checked: checked + p.checked, breaks: [...breaks, ...p.breaks] }),
      );
      if (signal.aborted) return;
      checked += last.checked;
      breaks = [...breaks, ...last.breaks];
    }
    report({ done: true });
  } catch (error) {
    report({ error: words(error) });
  }
}

type ServerProgress = ResultOf<typeof ServerCheck>["verificationProgress"];

// Follows the server's check of one session to its end, and gives the last event. Throws if it ends early.
async function follow(
  socket: Socket,
  session: string,
  signal: AbortSignal,
  each: (p: ServerProgress) => void,
): Promise<ServerProgress> {
  const events = socket.iterate<ResultOf<typeof ServerCheck>>({
    query: stringifyDocument(ServerCheck),
    variables: { session },
  });
  signal.addEventListener("abort", () => void events.return?.());
  for await (const { data, errors } of events) {
    if (errors?.[0]) throw new Error(errors[0].message);
    if (!data) continue;
    each(data.verificationProgress);
    if (data.verificationProgress.done) return data.verificationProgress;
  }
  throw new Error("The server ended its check before it was done.");
}

/** SessionCheck in a worker: one question at a time, each answered by the state after it. */
class ChainWorker {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

  ask(request: WorkerRequest): Promise<SessionProgress> {
    return new Promise((resolve, reject) => {
      this.worker.onmessage = (event: MessageEvent<SessionProgress>) => resolve(event.data);
      this.worker.onerror = (event) => reject(new Error(event.message || "The check could not run."));
      this.worker.postMessage(request);
    });
  }

  close(): void {
    this.worker.terminate();
  }
}

function words(error: unknown): string {
  if (error instanceof CloseEvent)
    return `The connection was closed (${error.code}${error.reason && `: ${error.reason}`}).`;
  if (error instanceof Event) return "The connection to the server failed.";
  if (Array.isArray(error)) return error.map((e) => e.message).join(" "); // GraphQL errors, as graphql-ws throws them
  if (!(error instanceof Error)) return String(error);
  const code = "graphQLErrors" in error ? `${codeOf(error as CombinedError)}: ` : "";
  return code + error.message.replace(/^\[(GraphQL|Network)\] /, "");
}
