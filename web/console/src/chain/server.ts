// The server's own check, followed to its end.
import type { Client as Socket } from "graphql-ws";
import { stringifyDocument } from "urql";
import type { ResultOf } from "../api/graphql";
import { SaidError } from "../words/said";
import { ServerCheck } from "./query";

/** How far the server's check is, as it tells. */
export type ServerProgress = ResultOf<typeof ServerCheck>["verificationProgress"];

/** How many breaks the server lists of a check: of so many, there may be more. */
export const mostTold = 1_000;

/** A break as the server reports it. */
export type ServerBreak = ServerProgress["breaks"][number];

/**
 * Follows the server's check of one session, or of the whole log if session is null, and gives the last event. Throws
 * if it ends early. Aborting ends the check on the server, too.
 */
export async function follow(
  socket: Socket,
  session: string | null,
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
  throw new SaidError({ id: "chain.unfinished" });
}
