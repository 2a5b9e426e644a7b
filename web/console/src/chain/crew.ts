// The checks' workers, as the page sees them.

import type { Heads } from "../seal/check";
import type { Head } from "../seal/checkpoint";
import { SaidError } from "../words/said";
import type { RowCheck, Shown, WithErasure } from "./rows";
import type { CheckedStretch, FetchedStretch, Numbered, OfSession, WorkerAnswer, WorkerRequest } from "./worker";

const mostWorkers = 4; // more find nothing to do: a server gives one player no more stretches at once

/** As many workers as there are processors, if the browser starts them; throws if it starts none. The first keeps the book; stretches go to whoever has the least to do. */
export class Crew {
  private readonly all: ChainWorker[];

  constructor(processors = navigator.hardwareConcurrency) {
    const length = Math.min(Math.max(processors || 1, 1), mostWorkers);
    this.all = [new ChainWorker()];
    try {
      while (this.all.length < length) this.all.push(new ChainWorker());
    } catch {
      return; // those that did start have more to do
    }
  }

  /** Asks the one that checks the sessions. */
  ask(request: OfSession, moved: Transferable[] = []): Promise<WorkerAnswer> {
    return this.first.send(request, moved);
  }

  /** Checks what is shown: null for what is not among the messages. */
  rows(shown: Shown[], messages: WithErasure[], heads: Heads | null): Promise<(RowCheck | null)[]> {
    return this.first.send({ kind: "rows", shown, messages, heads });
  }

  /**
   * Has a worker fetch a stretch and, with the head that its checkpoint has, check it. "absent": it could not be had, or
   * be read; "empty": there are no messages; "broken": anything of it does not hold.
   */
  async stretch(
    address: string,
    session: string,
    headOf: (note: string) => Promise<Head | null>,
  ): Promise<CheckedStretch | "broken" | "empty" | "absent"> {
    const whole = this.all.filter((worker) => !worker.broken);
    const idlest = whole.reduce((a, b) => (b.stretches < a.stretches ? b : a), this.first);
    idlest.stretches++;
    try {
      const fetched = await idlest.send<FetchedStretch | null>({ kind: "fetch", address });
      if (!fetched) return "absent";
      if (fetched.empty) return "empty";
      let head: Head | null;
      try {
        head = fetched.note === null ? null : await headOf(fetched.note);
      } catch (error) {
        await idlest.send({ kind: "drop", address });
        throw error;
      }
      const checked = await idlest.send<CheckedStretch | null>({ kind: "stretch", address, session, head });
      return checked ?? "broken";
    } finally {
      idlest.stretches--;
    }
  }

  /** Ends them, in the middle of an answer, too: what was asked and what is asked from now on is refused. */
  close(): void {
    for (const worker of this.all) worker.close();
  }

  private get first(): ChainWorker {
    return this.all[0] as ChainWorker;
  }
}

type Asked = { resolve: (answer: never) => void; reject: (error: unknown) => void };

class ChainWorker {
  stretches = 0; // that it has been given and has not done with
  broken: Error | null = null; // why it answers nothing any more

  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private readonly asked = new Map<number, Asked>();
  private last = 0;

  constructor() {
    this.worker.onmessage = ({ data: { id, content } }: MessageEvent<Numbered<never>>) => {
      this.asked.get(id)?.resolve(content);
      this.asked.delete(id);
    };
    // Its script may not have come, which it tells before anything is asked.
    this.worker.onerror = ({ message }) =>
      this.end(message ? new Error(message) : new SaidError({ id: "chain.failed" }));
  }

  send<Answer>(content: WorkerRequest, moved: Transferable[] = []): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.broken) return reject(this.broken);
      const id = this.last++;
      this.asked.set(id, { resolve, reject });
      this.worker.postMessage({ id, content } satisfies Numbered<WorkerRequest>, moved);
    });
  }

  close(): void {
    this.end(new DOMException("The check has ended.", "AbortError"));
  }

  private end(why: Error): void {
    this.worker.terminate();
    this.broken ??= why;
    for (const { reject } of this.asked.values()) reject(why);
    this.asked.clear();
  }
}
