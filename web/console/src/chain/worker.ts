/// <reference lib="webworker" />
// Runs SessionCheck off the main thread. One worker checks one session after another.
import type { Heads } from "../seal/check";
import type { ChainMessage } from "./check";
import { type Again, SessionCheck, type SessionProgress } from "./session";

/** What the page sends. Each is answered by one WorkerAnswer. heads: null where no proofs are to be checked. */
export type WorkerRequest =
  | { kind: "begin"; session: string; length: number; head: string }
  | { kind: "page"; messages: ChainMessage[]; heads: Heads | null }
  | { kind: "end" }
  | { kind: "again"; asked: Again[]; heads: Heads };

/** The state after a request, and which messages are to be asked for again; those are given at the end. */
export type WorkerAnswer = { progress: SessionProgress; suspects: string[] };

let check: SessionCheck | null = null;

self.onmessage = (event: MessageEvent<WorkerRequest>) => {
  const request = event.data;
  if (request.kind === "begin") check = new SessionCheck(request.session, request.length, request.head);
  if (!check) throw new Error("a page before the beginning");
  const progress = answer(check, request);
  const answered: WorkerAnswer = { progress, suspects: request.kind === "end" ? check.suspects() : [] };
  self.postMessage(answered);
};

function answer(check: SessionCheck, request: WorkerRequest): SessionProgress {
  switch (request.kind) {
    case "page":
      return check.page(request.messages, request.heads);
    case "end":
      return check.end();
    case "again":
      return check.again(request.asked, request.heads);
    default:
      return check.page([], null);
  }
}
