// The checks' workers, as the page sees them.

import type { Heads } from "../seal/check";
import type { Head } from "../seal/checkpoint";
import { SaidError } from "../words/said";
import type { ChainMessage } from "./check";
import type { RowCheck } from "./rows";
import type { CheckedStretch, OfSession, WorkerAnswer, WorkerRequest } from "./worker";

const mostWorkers = 4; // more find nothing to do: a server gives one player no more stretches at once

/** As many workers as there are processors. The first keeps the book; stretches go to whoever has the least to do. */
export class Crew {
  private readonly all: ChainWorker[];

  constructor(processors = navigator.hardwareConcurrency) {
    const length = Math.min(Math.max(processors || 1, 1), mostWorkers);
    this.all = Array.from({ length }, () => new ChainWorker());
  }

  /** Asks the one that checks the sessions. */
  ask(request: OfSession, moved: Transferable[] = []): Promise<WorkerAnswer> {
    return this.first.send(request, moved);
  }

  rows(messages: ChainMessage[], heads: Heads | null): Promise<RowCheck[]> {
    return this.first.send({ kind: "rows", messages, heads }, []);
  }

  /** Checks a stretch; null if anything of it does not hold. The body is gone from then on. */
  stretch(body: ArrayBuffer, session: string, head: Head | null): Promise<CheckedStretch | null> {
    const idlest = this.all.reduce((a, b) => (b.waiting < a.waiting ? b : a));
    return idlest.send({ kind: "stretch", body, session, head }, [body]);
  }

  /** Ends them, in the middle of an answer, too. */
  close(): void {
    for (const worker of this.all) worker.close();
  }

  private get first(): ChainWorker {
    return this.all[0] as ChainWorker;
  }
}

type Asked = { resolve: (answer: never) => void; reject: (error: unknown) => void };

/** A worker answers its questions in their order. */
class ChainWorker {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private readonly asked: Asked[] = [];

  constructor() {
    this.worker.onmessage = ({ data }) => this.asked.shift()?.resolve(data as never);
    this.worker.onerror = ({ message }) => {
      const error = message ? new Error(message) : new SaidError({ id: "chain.failed" });
      for (const { reject } of this.asked.splice(0)) reject(error);
    };
  }

  get waiting(): number {
    return this.asked.length;
  }

  send<Answer>(request: WorkerRequest, moved: Transferable[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.asked.push({ resolve, reject });
      this.worker.postMessage(request, moved);
    });
  }

  close(): void {
    this.worker.terminate();
  }
}
