// Context windows in the states that the console has to show, made through the API.
import type { Locator } from "playwright-core";
import { Visit } from "./browser";
import type { Server } from "./server";

/** Makes a window for an agent: whoever the token is of. */
export async function makeWindow(server: Server, input: object, token?: string): Promise<string> {
  const query = "mutation ($i: WindowInput!) { createWindow(input: $i) { id } }";
  return (await server.ask<{ createWindow: { id: string } }>(query, { i: input }, token)).createWindow.id;
}

/** What the server says of a write. */
export type Written = {
  item: { id: string } | null;
  rejected: string | null;
  compression: { ratio: number } | null;
  window: { usage: number; used: number };
};

/** Writes to a window, and gives what came of it: a rejection, too. */
export async function write(
  server: Server,
  window: string,
  type: string,
  content: string,
  more = {},
): Promise<Written> {
  const query = `mutation ($i: WriteInput!) {
    writeContext(input: $i) { item { id } rejected compression { ratio } window { usage used } } }`;
  const input = { window, type, content, ...more };
  return (await server.ask<{ writeContext: Written }>(query, { i: input })).writeContext;
}

/** Adds a record that is vouched for, and gives its hash. */
export async function vouch(server: Server, title: string, content: string): Promise<string> {
  const query = "mutation ($r: [RecordInput!]!) { addRecords(records: $r) { hash } }";
  const record = { kind: "SECRETARY", book: "places", title, content, verified: true };
  const { addRecords } = await server.ask<{ addRecords: { hash: string }[] }>(query, { r: [record] });
  return addRecords[0]?.hash ?? "";
}

const topics = ["the garden", "the bakery", "the harbour", "the museum", "the library", "the stadium", "the theatre"];
const verbs = ["walked past", "asked about", "talked of", "read about", "looked for", "remembered", "wrote about"];

/** Something that somebody may have said, of some twenty tokens: no two of them contradict each other. */
export const saying = (n: number): string =>
  `In note ${n} somebody ${verbs[Math.floor(n / 7) % 7]} ${topics[n % 7]} and then went on to the next thing on a long list of things to do.`;

/** Writes what two say until a window is as full as this, from 0 to 1; gives how many messages that took. */
export async function talk(server: Server, window: string, usage: number, times = 3): Promise<number> {
  for (let n = 0; ; n++) {
    const type = n % 2 === 0 ? "USER_MESSAGE" : "ASSISTANT_MESSAGE";
    const texts = Array.from({ length: times }, (_, i) => saying(times * n + i));
    if ((await write(server, window, type, texts.join(" "))).window.usage >= usage) return n + 1;
  }
}

/** A window with all that happens to windows: what was verified and rejected, what clashed, and a compression. */
export async function makeStay(server: Server): Promise<string> {
  await vouch(server, "Eiffel Tower", "The Eiffel Tower is in Paris");
  const id = await makeWindow(server, {
    name: "A stay in Paris",
    capacity: 1200,
    task: "Find a hotel near the Eiffel Tower in Paris",
  });
  const ago = (hours: number) => ({ observedAt: new Date(Date.now() - hours * 3_600_000).toISOString() });
  await write(server, id, "SYSTEM_INSTRUCTION", "You help guests of a small travel agency. Answer briefly.");
  await write(server, id, "GOAL", "Book a hotel in Paris for two nights in June.");
  await write(server, id, "USER_PREFERENCE", "User prefers budget hotels", ago(48));
  await write(server, id, "KNOWLEDGE", "The Eiffel Tower is in Paris");
  await talk(server, id, 0.8);
  await write(server, id, "USER_MESSAGE", "And which of the hotels has a view of the river?");
  await write(server, id, "USER_PREFERENCE", "User prefers luxury 5-star hotels");
  await write(server, id, "KNOWLEDGE", "The Eiffel Tower is in London");
  return id;
}

/** A window with what it holds. */
export type State = {
  used: number;
  capacity: number;
  items: { id: string; type: string; content: string; tokens: number }[];
};

/** What a window holds now. */
export async function stateOf(server: Server, id: string): Promise<State> {
  const query = "query ($id: ID!) { window(id: $id) { used capacity items { id type content tokens } } }";
  return (await server.ask<{ window: State }>(query, { id })).window;
}

/** What stands in a window now. */
export const saidIn = async (server: Server, id: string): Promise<string[]> =>
  (await stateOf(server, id)).items.map((i) => i.content);

/** Where a window is shown, and which part of it. */
export const at = (id: string, show = "") => `/windows/${encodeURIComponent(id)}${show && `?show=${show}`}`;

export const main = (v: Visit) => v.page.getByRole("main");

/** A button of a page, or of a part of it. */
export const button = (of: Visit | Locator, name: string) =>
  (of instanceof Visit ? of.page : of).getByRole("button", { name, exact: true });

/** The operations that had an outcome, where a window's history is shown. */
export const done = (v: Visit, outcome: string) => main(v).locator(`article[data-outcome="${outcome}"]`);
