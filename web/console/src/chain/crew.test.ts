import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Crew } from "./crew";
import { walk } from "./walk";
import type { Numbered, WorkerRequest } from "./worker";

/** Workers that answer when, and as, the test says. */
class Idle {
  static all: Idle[] = [];
  static last: Idle; // that was asked
  readonly asked: Numbered<WorkerRequest>[] = [];
  onmessage: (event: { data: Numbered<unknown> }) => void = () => {};
  onerror: (event: { message?: string }) => void = () => {};
  terminate = vi.fn();

  constructor() {
    Idle.all.push(this);
  }

  postMessage(request: Numbered<WorkerRequest>): void {
    this.asked.push(request);
    Idle.last = this;
  }

  answer(kind: WorkerRequest["kind"], content: unknown): void {
    const request = this.asked.find((r) => r.content.kind === kind);
    if (!request) throw new Error(`nobody asked for ${kind}`);
    this.asked.splice(this.asked.indexOf(request), 1);
    this.onmessage({ data: { id: request.id, content } });
  }
}

beforeEach(() => {
  Idle.all = [];
  vi.stubGlobal("Worker", Idle);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const begin: WorkerRequest = { kind: "begin", session: "", length: 0, head: "" };
const soon = () => new Promise((resolve) => setImmediate(resolve));
const waiting = (p: Promise<unknown>) => Promise.race([p.then(() => "settled"), soon().then(() => "waiting")]);
const headOf = () => Promise.resolve(null);

describe("a crew", () => {
  it("gives each answer to who asked for it, in whichever order they come", async () => {
    const crew = new Crew(1);
    const answers = [crew.ask(begin), crew.ask({ kind: "end" })];
    Idle.last.answer("end", "the end");
    Idle.last.answer("begin", "the beginning");
    expect(await Promise.all(answers)).toEqual(["the beginning", "the end"]);
  });

  it("refuses what it was asked when its worker fails, and what it is asked afterwards", async () => {
    const crew = new Crew(1);
    const before = crew.ask(begin);
    Idle.last.onerror({ message: "out of memory" });
    await expect(before).rejects.toThrow("out of memory");
    await expect(crew.ask({ kind: "end" })).rejects.toThrow("out of memory");
  });

  it("refuses all of a worker whose script never came, though nothing was asked by then", async () => {
    const crew = new Crew(1);
    Idle.all[0]?.onerror({});
    await expect(crew.ask(begin)).rejects.toMatchObject({ said: { id: "chain.failed" } });
    await expect(crew.stretch("/a", "", headOf)).rejects.toMatchObject({ said: { id: "chain.failed" } });
  });

  it("gives stretches to those that still answer", async () => {
    const crew = new Crew(2);
    Idle.all[1]?.onerror({});
    const both = [crew.stretch("/a", "", headOf), crew.stretch("/b", "", headOf)];
    expect(Idle.all.map((w) => w.asked.length)).toEqual([2, 0]);
    for (const _ of both) Idle.all[0]?.answer("fetch", null);
    expect(await Promise.all(both)).toEqual(["absent", "absent"]);
  });

  it("has a stretch dropped whose checkpoint nobody can tell of", async () => {
    const crew = new Crew(1);
    const stretch = crew.stretch("/a", "", () => Promise.reject(new Error("no answer")));
    const refused = expect(stretch).rejects.toThrow("no answer");
    Idle.last.answer("fetch", { note: "a note", empty: false });
    await soon();
    Idle.last.answer("drop", true);
    await refused;
  });

  it("makes do with the workers that start, and is none without any", async () => {
    let left = 2;
    class Few extends Idle {
      constructor() {
        if (left-- <= 0) throw new Error("no more");
        super();
      }
    }
    vi.stubGlobal("Worker", Few);
    const crew = new Crew(4);
    expect(Idle.all).toHaveLength(2);
    crew.close();
    expect(() => new Crew(4)).toThrow("no more");
  });

  it("leaves nobody waiting when it is closed", async () => {
    const crew = new Crew(2);
    const [asked, stretch] = [crew.ask(begin), crew.stretch("/a", "", headOf)];
    expect(await waiting(asked)).toBe("waiting");
    crew.close();
    for (const one of [asked, stretch, crew.ask({ kind: "end" })]) await expect(one).rejects.toThrow("ended");
    for (const worker of Idle.all) expect(worker.terminate).toHaveBeenCalled();
  });
});

describe("a walk", () => {
  it("that is cancelled while stretches are on their way comes to its end", async () => {
    const crew = new Crew(2);
    const controller = new AbortController();
    controller.signal.addEventListener("abort", () => crew.close());
    const show = vi.fn();
    const walking = walk(
      { send: fetch, crew, headsOf: () => Promise.resolve(null), show, signal: controller.signal },
      { hash: "", length: 9_000, head: "" },
    );
    expect(await waiting(walking)).toBe("waiting");
    controller.abort();
    await walking;
    expect(show).not.toHaveBeenCalled();
  });
});
