// The long thread that the figures are of: one session, so that its chain is as long as it is.
import { createHash } from "node:crypto";
import type { Server } from "../server";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** The thread's hash, and that of its one session. */
export const thread = hashOf("the thread of the figures");
export const session = hashOf("the session of the figures");

const append = "mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }";
const start = Date.UTC(2026, 0, 1);
const atOnce = 1_000;
const words = "breakfast room view lake boat evening train ticket harbour quiet window table garden coffee lamp".split(
  " ",
);

// A message as people and agents write them: 8 to 70 words, now and then an error, or one that is very relevant.
function message(position: number, players: readonly string[]) {
  const length = 8 + ((position * 7_919) % 63);
  const text = Array.from({ length }, (_, i) => words[(position * 31 + i * (i + 7)) % words.length]).join(" ");
  return {
    sessionHash: session,
    threadHash: thread,
    ownerId: players[position % 2],
    playerIds: [players[(position + 1) % 2]],
    role: position % 2 === 0 ? "user" : "assistant",
    content: `Message at ${position + 1}: ${text}.`,
    eventType: position % 997 === 500 ? "ERROR" : "MESSAGE",
    importance: position % 1_499 === 3 ? 2 : 0,
    channel: position % 3 === 0 ? "webchat" : "voice",
  };
}

/** Appends to the thread through the API until it has this many messages, and waits until the server has done with them. */
export async function fill(server: Server, length: number, tell: (text: string) => void): Promise<void> {
  const players = playersOf(server);
  for (let from = await lengthOf(server); from < length; from += atOnce) {
    const m = Array.from({ length: Math.min(atOnce, length - from) }, (_, i) => ({
      ...message(from + i, players),
      createdAt: new Date(start + (from + i) * 30_000).toISOString(),
    }));
    await server.ask(append, { m });
    if ((from + atOnce) % 10_000 === 0) tell(`${from + atOnce} messages appended`);
  }
  await settled(server);
}

/** Appends one message as of now. */
export async function appendOne(server: Server, players: readonly string[], position: number): Promise<void> {
  await server.ask(append, { m: [message(position, players)] });
}

/** Two players for the thread's messages. */
export const playersOf = (server: Server): string[] =>
  server.sql("SELECT hash FROM core.players ORDER BY hash LIMIT 2").split("\n");

/** How many messages the thread has. */
export async function lengthOf(server: Server): Promise<number> {
  type Answer = { thread: { messageCount: number } | null };
  const query = "query ($hash: Hash!) { thread(hash: $hash) { messageCount } }";
  return (await server.ask<Answer>(query, { hash: thread })).thread?.messageCount ?? 0;
}

/** Waits until everything is sealed and embedded: what the server does in the background is not what is measured. */
export async function settled(server: Server): Promise<void> {
  type Answer = { seal: { waiting: number }; embeddingModels: { outstanding: number }[] };
  const query = "{ seal { waiting } embeddingModels { outstanding } }";
  for (;;) {
    const { seal, embeddingModels } = await server.ask<Answer>(query);
    if (seal.waiting + embeddingModels.reduce((n, m) => n + m.outstanding, 0) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
