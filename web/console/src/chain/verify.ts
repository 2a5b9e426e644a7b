// Checks every session of a thread twice: by recomputing it in this browser, and then by asking the server. Each has its
// own progress, findings and failure, so that neither can speak for the other.
import type { Client as Socket } from "graphql-ws";
import type { Client } from "urql";
import { words } from "../api/errors";
import type { ResultOf } from "../api/graphql";
import { ask } from "../api/query";
import { inBrowser, nothingRecomputed, type Recomputed } from "./browser";
import { paced } from "./paced";
import { SessionEnd, ThreadSessions } from "./query";
import { follow, mostTold, type ServerBreak, type ServerProgress } from "./server";
import type { InView } from "./shown";

/** How many there are; least: or more. */
export type Amount = { n: number; least: boolean };

/**
 * How far one of the two checks is. breaks: the first of those that were found; error: it could not be carried through, so
 * nothing follows for the rest.
 */
export type Progress<Break> = {
  checked: number;
  total: number;
  breaks: Break[];
  found: Amount;
  done: boolean;
  error: string | null;
};

/** How far both checks are. */
export type Verification = { browser: Recomputed; server: Progress<ServerBreak> };

/** A session to check, with the end that it states. */
export type SessionEndpoint = { hash: string; length: number; head: string };

/** What to check: a session, or every session that holds a message of a thread. */
export type Subject = { kind: "thread" | "session"; hash: string };

const pace = 200; // milliseconds between reports

/** Nothing checked yet. */
export const nothingChecked: Verification = {
  browser: nothingRecomputed,
  server: { checked: 0, total: 0, breaks: [], found: { n: 0, least: false }, done: false, error: null },
};

/**
 * Carries out both checks and reports how far they are, not more often than can be read; what is in view first, if that is
 * given. The server's comes behind the browser's: it would take what the server needs to answer this one. Resolves when
 * both have ended; stops soon after abort.
 */
export async function verify(
  client: Client,
  send: typeof fetch,
  socket: Socket,
  subject: Subject,
  inView: InView | null,
  report: (v: Verification) => void,
  signal: AbortSignal,
): Promise<void> {
  const reports = paced(report, pace);
  signal.addEventListener("abort", reports.finish); // how far it came is told, whoever ends it
  let now = nothingChecked;
  const set = (change: Partial<Verification>) => {
    now = { ...now, ...change };
    if (!signal.aborted) reports.tell(now);
  };
  try {
    const sessions = await endpoints(client, subject);
    const total = sessions.reduce((n, s) => n + s.length, 0);
    set({ browser: { ...now.browser, total }, server: { ...now.server, total } });
    let asked: Promise<void> | null = null;
    const askServer = () => {
      asked ??= byServer(socket, sessions, signal, (server) => set({ server: { ...now.server, ...server } }));
      return asked;
    };
    await inBrowser(client, send, sessions, inView, signal, (browser) => {
      set({ browser: { ...now.browser, ...browser } });
      if (browser.walked) void askServer();
    });
    if (!signal.aborted) await askServer();
  } catch (error) {
    const reason = words(error);
    set({ browser: { ...now.browser, error: reason }, server: { ...now.server, error: reason } });
  } finally {
    signal.removeEventListener("abort", reports.finish);
    reports.flush();
  }
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

async function byServer(
  socket: Socket,
  endpoints: SessionEndpoint[],
  signal: AbortSignal,
  report: Report<Verification["server"]>,
): Promise<void> {
  let before = nothingChecked.server;
  const add = (p: ServerProgress) => ({
    ...before,
    checked: before.checked + p.checked,
    breaks: [...before.breaks, ...p.breaks].slice(0, mostTold),
    found: { n: before.found.n + p.breaks.length, least: before.found.least || p.breaks.length >= mostTold },
  });
  const tell = ({ checked, breaks, found }: Verification["server"]) => report({ checked, breaks, found });
  try {
    for (const { hash } of endpoints) {
      const last = await follow(socket, hash, signal, (p) => tell(add(p)));
      if (signal.aborted) return;
      before = add(last);
      tell(before);
    }
    report({ done: true });
  } catch (error) {
    report({ error: words(error) });
  }
}
