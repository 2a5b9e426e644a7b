import type { Client as Socket } from "graphql-ws";
import type { Client } from "urql";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CheckedHashes } from "./hashes";
import type { ServerProgress } from "./server";
import { SessionCheck } from "./session";
import { digits } from "./testing";
import { type Verification, verify } from "./verify";
import type { Numbered, WorkerRequest } from "./worker";

const sessions = [1, 2].map((n) => ({ hash: digits(String(n)), length: 1, head: digits("9") }));

type Ask = (name: string, variables: { after?: string | null }) => unknown;

// A client that gives what the test says, by the name of the query.
const client = (ask: Ask): Client =>
  ({
    query: (query: { definitions: { name?: { value: string } }[] }, variables: object) => ({
      toPromise: () => {
        const name = query.definitions[0]?.name?.value ?? "";
        try {
          return Promise.resolve({ data: ask(name, variables) });
        } catch (error) {
          return Promise.resolve({ error });
        }
      },
    }),
  }) as unknown as Client;

const endpoints: Ask = (name, { after }) => {
  if (name !== "ThreadSessions") throw new Error(`no ${name}`);
  const at = after === "one" ? 1 : 0; // a page for each
  const node = sessions[at];
  return { sessions: { edges: [{ node }], pageInfo: { endCursor: at === 0 ? "one" : "two", hasNextPage: at === 0 } } };
};

/** A server that finds a break in each session, and notes which it is asked of. */
function socket(asked: string[]): Socket {
  const iterate = ({ variables: { session } }: { variables: { session: string } }) => {
    asked.push(session);
    const breaks = [{ session, sequence: 1, messageHash: null, reason: "HASH_MISMATCH", detail: "" }];
    const events = (async function* () {
      await Promise.resolve();
      const progress = { checked: 1, total: 1, done: true, breaks };
      yield { data: { verificationProgress: progress as unknown as ServerProgress } };
    })();
    return events;
  };
  return { iterate } as unknown as Socket;
}

/** A Worker that answers as one that finds every session empty. */
class Empty {
  static made = 0;
  onmessage: (event: { data: Numbered<unknown> }) => void = () => {};
  private session = "";
  constructor() {
    Empty.made++;
  }
  postMessage({ id, content }: Numbered<WorkerRequest>): void {
    if (content.kind === "begin") this.session = content.session;
    const progress = new SessionCheck(this.session, 1, "").page([], null);
    const answer = { progress, suspects: [], hashes: [], explicable: false, page: null, errors: null };
    queueMicrotask(() => this.onmessage({ data: { id, content: content.kind === "fetch" ? null : answer } }));
  }
  terminate(): void {}
}

const nothing: typeof fetch = () => Promise.resolve(new Response("{}"));

async function run(ask = endpoints, signal = new AbortController().signal) {
  const told: Verification[] = [];
  const asked: string[] = [];
  await verify(
    client(ask),
    nothing,
    socket(asked),
    { kind: "thread", hash: digits("7") },
    null,
    (v) => told.push(v),
    signal,
  );
  return { told, asked, last: told.at(-1) as Verification };
}

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  });
  vi.stubGlobal("CloseEvent", class {}); // browsers have it, and Node.js from 23 on
  vi.stubGlobal("navigator", { hardwareConcurrency: 1 });
  vi.stubGlobal("Worker", Empty);
  Empty.made = 0;
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe("a verification", () => {
  it("goes through every session of a thread here, and then asks the server of each", async () => {
    const { asked, last } = await run();
    expect(asked).toEqual(sessions.map((s) => s.hash));
    expect([...last.browser.sessions.keys()]).toEqual(sessions.map((s) => s.hash));
    expect(last.browser).toMatchObject({ total: 2, walked: true, done: true, error: null });
    expect(last.browser.hashes.get(digits("1"))).toBeInstanceOf(CheckedHashes);
  });

  it("has the server speak for itself alone, all sessions together", async () => {
    const { last } = await run();
    expect(last.server).toMatchObject({ checked: 2, total: 2, found: { n: 2, least: false }, done: true, error: null });
    expect(last.server.breaks.map((b) => b.session)).toEqual(sessions.map((s) => s.hash));
    expect(last.browser.breaks).toEqual([]);
  });

  it("books it on this browser if it starts no Worker, and asks the server all the same", async () => {
    vi.stubGlobal(
      "Worker",
      class {
        constructor() {
          throw new Error("no Worker here");
        }
      },
    );
    const { asked, last } = await run();
    expect(last.browser).toMatchObject({ error: "no Worker here", walked: false, done: false, checked: 0 });
    expect(last.server).toMatchObject({ error: null, done: true, checked: 2 });
    expect(asked).toHaveLength(2);
  });

  it("is finished by neither if it is not known which sessions there are", async () => {
    const { asked, last } = await run(() => {
      throw new Error("no answer");
    });
    expect([last.browser.error, last.server.error]).toEqual(["no answer", "no answer"]);
    expect([asked, Empty.made]).toEqual([[], 0]);
  });

  it("tells nothing once it was cancelled, and asks the server of nothing", async () => {
    const controller = new AbortController();
    const { told, asked } = await run((...of) => {
      controller.abort();
      return endpoints(...of);
    }, controller.signal);
    expect([told, asked]).toEqual([[], []]);
  });
});
