// Conversations for the console to show, made through the API.
import type { Server } from "./server";

/** What the user and the assistant said, exchange by exchange. */
export type Exchanges = readonly (readonly [string, string])[];

/** What is said where a test does not say what. */
export const said = [
  ["Quiero ver zapatillas 👟, calzo el 43", "¿Alguna marca en particular?"],
  ["Que no sea cara", "Tengo tres modelos"],
] as const;

/** Starts a conversation of a user's with an assistant, records what both said, and gives its id. */
export async function beginConversation(
  server: Server,
  user: string,
  role = "CLIENT",
  exchanges: Exchanges = said,
): Promise<string> {
  const { startConversation: c } = await server.ask<{ startConversation: { id: string } }>(
    "mutation ($r: ConversationRole!, $u: String!) { startConversation(role: $r, userId: $u) { id } }",
    { r: role, u: user },
  );
  for (const [u, a] of exchanges) {
    await server.ask(
      `mutation ($c: String!, $u: String!, $a: String!) {
        recordExchange(conversation: $c, user: $u, assistant: $a, state: { current_category: "zapatillas" }) { id } }`,
      { c: c.id, u, a },
    );
  }
  return c.id;
}

/** The address of a conversation's page. */
export const open = (id: string) => `/conversations?id=${encodeURIComponent(id)}`;
