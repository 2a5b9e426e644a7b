import { describe, expect, it } from "vitest";
import type { Crew } from "./crew";
import { walk } from "./walk";
import type { OfSession, WorkerAnswer } from "./worker";

const pageLength = 100;

type HeldHere = { last: { sequence: number }; gone: number[]; erasures: number[] };
type Page = { from: number; count: number; next: string | null };

/** A session of some length, of which some messages do not hold, and what was asked of it. */
class Log {
  stretches: [after: number, upto: number][] = [];
  pages = 0;
  checked = 0;
  /** Contents that are gone as far as it was read, without the message that says so. */
  readonly unrecorded = new Set<number>();
  /** Happens before the first stretch is answered, and behind the answers to the others. */
  meanwhile: (() => void) | null = null;
  private readonly erased = new Map<number, number>(); // by the number of the message that says so
  private upTo = 0;
  private waiting: Page = { from: 0, count: 0, next: null };

  constructor(
    private length: number,
    private readonly bad: (n: number) => boolean,
    private readonly pageAt: (from: number) => Page = (from) => {
      const count = Math.min(pageLength, this.length - from);
      return { from, count, next: from + count < this.length ? String(from + count) : null };
    },
  ) {}

  /** Erases contents as a server does that appends what says so; or one that does not. */
  erase(numbers: number[], onRecord = true): void {
    for (const n of numbers) this.erased.set(onRecord ? ++this.length : -n, n);
  }

  async walk(): Promise<void> {
    const crew = { stretch: this.stretch.bind(this), ask: this.ask.bind(this) } as unknown as Crew;
    const send = (_: unknown, init?: RequestInit) => {
      const { variables } = JSON.parse(String(init?.body)) as { variables: { after: string | null } };
      this.waiting = this.pageAt(Number(variables.after ?? 0));
      this.pages++;
      return Promise.resolve(new Response("{}"));
    };
    const { signal } = new AbortController();
    await walk(
      { send, crew, headsOf: () => Promise.resolve(null), show: () => {}, signal },
      { hash: "", length: this.length, head: "" },
    );
  }

  private async stretch(address: string): Promise<unknown> {
    const of = new URLSearchParams(address.split("?")[1]);
    const after = Number(of.get("after"));
    const { meanwhile } = this;
    if (after === 0 && meanwhile) {
      await new Promise((resolve) => setImmediate(resolve));
      meanwhile();
    }
    const upto = Math.min(Number(of.get("upto")), this.length);
    this.stretches.push([after, upto]);
    if (upto <= after) return "empty";
    for (let n = after + 1; n <= upto; n++) if (this.bad(n)) return "broken";
    const within = (n: number) => n > after && n <= upto;
    return {
      held: {
        first: { sequence: after + 1 },
        last: { sequence: upto },
        next: upto < this.length ? String(upto) : null,
        gone: [...this.erased].flatMap(([by, n]) => (within(n) && !within(by) ? [n] : [])),
        erasures: [...this.erased].flatMap(([by, n]) => (within(by) ? [n] : [])),
      },
    };
  }

  private ask(request: OfSession): Promise<Partial<WorkerAnswer>> {
    const { from, count, next } = this.waiting;
    if (request.kind === "page") return Promise.resolve({ page: { count, notes: [], next }, errors: null });
    const held = request.kind === "held" ? (request.checked.held as unknown as HeldHere) : null;
    const known = request.kind === "check" ? request.known : 0;
    for (const n of held?.erasures ?? []) this.unrecorded.delete(n);
    for (const n of held?.gone ?? []) this.unrecorded.add(n);
    if (!held)
      for (const [by, n] of this.erased)
        if (by > Math.max(from, known) && by <= from + count) this.unrecorded.delete(n);
    const to = Math.max(known, held ? held.last.sequence : from + count);
    this.checked += to - this.upTo;
    this.upTo = to;
    return Promise.resolve({
      progress: { upTo: to, gone: [...this.unrecorded] } as unknown as WorkerAnswer["progress"],
    });
  }
}

describe("a walk along a session", () => {
  it("takes as few stretches as it can where all holds", async () => {
    const log = new Log(9_500, () => false);
    await log.walk();
    expect(log.stretches).toEqual([0, 2_000, 4_000, 6_000, 8_000].map((n) => [n, Math.min(n + 2_000, 9_500)]));
    expect([log.pages, log.checked]).toEqual([0, 9_500]);
  });

  it("goes round one message that does not hold by a page, and soon takes long stretches again", async () => {
    const log = new Log(50_000, (n) => n === 5_555);
    await log.walk();
    expect([log.pages, log.checked]).toEqual([1, 50_000]);
    expect(log.stretches.length).toBeLessThan(45);
  });

  it("asks for no more than a stretch with each page where nothing holds", async () => {
    const log = new Log(20_000, () => true);
    await log.walk();
    expect([log.pages, log.checked]).toEqual([200, 20_000]);
    expect(log.stretches.length).toBeLessThan(215);
  });

  it("reads on behind the last message where a content was erased while stretches were on their way together", async () => {
    const log = new Log(4_500, () => false);
    log.meanwhile = () => log.erase([7]);
    await log.walk();
    expect([...log.unrecorded]).toEqual([]);
    expect(log.stretches).toContainEqual([4_500, 4_501]);
    expect([log.pages, log.checked]).toEqual([0, 4_501]);
  });

  it("reads on there message by message where no stretch is to be had, and passes over what it has checked", async () => {
    const log = new Log(4_500, (n) => n > 4_500);
    log.meanwhile = () => log.erase([7]);
    await log.walk();
    expect([...log.unrecorded]).toEqual([]);
    expect([log.pages, log.checked]).toEqual([6, 4_501]); // from the last place that has a name
  });

  it("leaves it at nothing behind the last message for a content that is gone without an erasure on record", async () => {
    const log = new Log(4_500, () => false);
    log.erase([7], false);
    await log.walk();
    expect([...log.unrecorded]).toEqual([7]);
    expect([log.stretches.at(-1), log.pages, log.checked]).toEqual([[4_500, 4_500], 0, 4_500]);
  });

  it.each([
    ["is empty", (from: number) => ({ from, count: 0, next: "on" })],
    ["is the one before once more", (from: number) => ({ from, count: 100, next: "100" })],
  ])("ends at a page that %s, though the server says that more follows", async (_, page) => {
    const log = new Log(1_000, () => true, page);
    await log.walk();
    expect(log.pages).toBeLessThan(3);
  });
});
