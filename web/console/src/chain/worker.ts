/// <reference lib="webworker" />
// Runs SessionCheck off the main thread. One worker checks one session after another.
import type { ChainMessage } from "./check";
import { SessionCheck } from "./session";

/** What the page sends. Each is answered by one SessionProgress. */
export type WorkerRequest =
  | { kind: "begin"; session: string; length: number; head: string }
  | { kind: "page"; messages: ChainMessage[] }
  | { kind: "end" };

let check: SessionCheck | null = null;

self.onmessage = (event: MessageEvent<WorkerRequest>) => {
  const request = event.data;
  if (request.kind === "begin") check = new SessionCheck(request.session, request.length, request.head);
  if (!check) throw new Error("a page before the beginning");
  if (request.kind === "page") self.postMessage(check.page(request.messages));
  else if (request.kind === "end") self.postMessage(check.end());
  else self.postMessage(check.page([]));
};
