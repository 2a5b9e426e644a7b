// Every page of the console over the sample log, and how to come there: what is checked and pictured of each.
import type { Locator } from "playwright-core";
import type { Visit } from "./browser";
import type { Server } from "./server";
import { done, makeStay, makeWindow, talk, at as windowAt } from "./windows";
import type { Say } from "./words";

/** What the pages show: messages of the sample, and what was made for them. */
export type Sample = {
  thread: string;
  session: string;
  /** A message of the thread that has refs, and is among those of others. */
  message: string;
  sequence: number;
  /** A message of another thread, as words that searches find. */
  question: string;
  player: string;
  record: string;
  selection: string;
  /** A message that the selection considered and left out. */
  dropped: string;
  /** A conversation in memory. */
  conversation: string;
  /** A context window. */
  window: string;
};

/** A page as somebody sees it: open comes there, and ends when what it shows is there. */
export type Scene = { name: string; open: (v: Visit, of: Sample, say: Say) => Promise<void> };

const at = async (v: Visit, path: string, shown: (v: Visit) => Locator): Promise<void> => {
  await v.go(path);
  await shown(v).first().waitFor();
};
const button = (v: Visit, name: string) => v.page.getByRole("button", { name, exact: true });
const article = (v: Visit) => v.page.getByRole("article");
const item = (v: Visit) => v.page.getByRole("main").getByRole("listitem");
const table = (v: Visit) => v.page.getByRole("table");

const conversation = (s: Sample) => `/conversations?id=${encodeURIComponent(s.conversation)}`;

/** Checks what a page of a conversation shows, and waits for the end. */
export async function verify(v: Visit, say: Say): Promise<void> {
  await button(v, say("thread.verify")).click();
  await button(v, say("thread.verify.again")).waitFor();
}

/** The scenes of whoever is signed in as administrator, in the order of docs/console.md. None changes the log. */
export const scenes: readonly Scene[] = [
  {
    name: "overview",
    open: async (v) => {
      await at(v, "/overview", () => v.page.locator("canvas"));
      for (let i = 0; i < 3; i++) await v.page.waitForResponse(/graphql/); // a line needs points
    },
  },
  { name: "threads", open: (v) => at(v, "/threads", item) },
  { name: "thread", open: (v, s) => at(v, `/threads/${s.thread}`, article) },
  {
    name: "message",
    open: (v, s, say) =>
      at(v, `/threads/${s.thread}?message=${s.message}`, () => v.page.getByText(say("thread.fields"), { exact: true })),
  },
  {
    name: "message-full",
    open: (v, s, say) =>
      at(v, `/sessions/${s.session}/${s.sequence}.${s.message.slice(0, 12)}`, () =>
        v.page.getByText(say("thread.fields"), { exact: true }),
      ),
  },
  {
    name: "chain",
    open: async (v, s, say) => {
      await at(v, `/sessions/${s.session}`, article);
      await verify(v, say);
    },
  },
  { name: "references", open: (v, s) => at(v, `/messages/${s.message}/references`, table) },
  {
    name: "references-graph",
    open: (v, s) => at(v, `/messages/${s.message}/references?view=graph`, () => v.page.locator("[data-step='0']")),
  },
  { name: "conversations", open: (v) => at(v, "/conversations?user=42", article) },
  { name: "conversation", open: (v, s) => at(v, conversation(s), () => v.page.getByRole("timer")) },
  {
    name: "prompt",
    open: async (v, s, say) => {
      const field = (id: string) => v.page.getByLabel(say(`conversations.prompt.${id}`), { exact: true });
      await at(v, conversation(s), () => field("input"));
      await field("input").fill("Is breakfast part of it? We come with a baby 🍼.");
      await field("role").fill("You are the front desk of a small hotel by the sea.");
      await field("rules").fill("Offer only rooms that are free.");
      await field("budget").fill("300");
      await button(v, say("conversations.prompt.ask")).click();
      const result = v.page.getByRole("region", { name: say("conversations.prompt.result") });
      await result.waitFor();
      await result.evaluate((e) => e.scrollIntoView());
    },
  },
  { name: "events", open: (v) => at(v, "/events", article) },
  { name: "event-thread", open: (v) => at(v, "/events?agent=jarvis_webchat&user=user_42&thread=thread_1", article) },
  {
    name: "event-memory",
    open: (v) => at(v, "/events?agent=jarvis_webchat&user=user_42&thread=thread_1&show=memory&last=2&keep=3", article),
  },
  { name: "windows", open: (v) => at(v, "/windows?figures=ever", article) },
  { name: "window", open: (v, s) => at(v, windowAt(s.window), () => v.page.locator("[data-item]")) },
  {
    name: "window-history",
    open: async (v, s) => {
      await at(v, windowAt(s.window, "history"), () => v.page.locator("canvas"));
      await done(v, "REJECTED").waitFor();
    },
  },
  { name: "selections", open: (v) => at(v, "/selections", item) },
  {
    name: "selection",
    open: (v, s) => at(v, `/selections/${encodeURIComponent(s.selection)}`, () => v.page.locator("li[data-stage]")),
  },
  {
    name: "why-not",
    open: async (v, s, say) => {
      const list = () => v.page.getByRole("list", { name: say("selection.why.verdicts") });
      await at(v, `/selections/${encodeURIComponent(s.selection)}?why=${s.dropped}`, list);
      await list().evaluate((e) => e.closest("section")?.scrollIntoView());
    },
  },
  {
    name: "lab",
    open: (v, s, say) =>
      at(v, `/context?q=${encodeURIComponent(s.question)}&threshold=0.3&limit=5&two=1&limit2=3&w2=RECORD:0&try=1`, () =>
        v.page.getByRole("region", { name: say("selection.difference") }),
      ),
  },
  { name: "components", open: (v) => at(v, "/components", item) },
  {
    name: "component",
    open: (v, s) => at(v, `/components/ply/${s.player}`, () => v.page.locator("canvas, svg[role=img]")),
  },
  { name: "records", open: (v) => at(v, "/records", item) },
  {
    name: "record",
    open: (v, s) => at(v, `/records?record=${s.record}`, () => v.page.getByRole("complementary").getByRole("heading")),
  },
  {
    name: "playground",
    open: async (v) => {
      await at(v, "/playground", () => v.page.locator(".view-line", { hasText: "threads" }));
      await v.page.locator(".graphiql-execute-button").click();
      await v.page.locator(".graphiql-response", { hasText: "messageCount" }).waitFor();
    },
  },
  { name: "quarantine", open: (v) => at(v, "/quarantine", article) },
  { name: "seal", open: (v, _, say) => at(v, "/seal", () => button(v, say("seal.whole.check"))) },
  { name: "tokens", open: (v) => at(v, "/tokens", item) },
  { name: "token-new", open: (v) => at(v, "/tokens?new", () => v.page.getByRole("complementary").locator("form")) },
  { name: "settings", open: (v) => at(v, "/settings", table) },
  {
    name: "erase",
    open: async (v, s, say) => {
      await at(v, `/threads/${s.thread}?message=${s.message}`, () => button(v, say("erase.open")));
      await button(v, say("erase.open")).click();
      await v.page.getByRole("dialog").getByText(say("erase.terms"), { exact: true }).waitFor();
    },
  },
  {
    name: "palette",
    open: async (v) => {
      await at(v, "/threads", item);
      await v.page.keyboard.press("Control+k");
      await v.page.getByRole("dialog").getByRole("option").first().waitFor();
    },
  },
  {
    name: "help",
    open: async (v, _, say) => {
      await at(v, "/threads", item);
      await v.page.keyboard.press("?");
      await v.page.getByRole("dialog", { name: say("palette.help") }).waitFor();
    },
  },
];

/** Makes what the pages are to show beside the sample, and says where each of it is. */
export async function prepare(server: Server): Promise<Sample> {
  const row = (query: string) => server.sql(query).split("|");
  const [thread = "", session = "", message = "", sequence = ""] = row(`
    SELECT m.thread_hash, m.session_hash, m.hash, m.sequence FROM log.messages m
    WHERE m.sequence > 2 AND EXISTS (SELECT FROM log.message_refs r WHERE r.message_hash = m.hash)
      AND EXISTS (SELECT FROM log.message_refs r WHERE r.ref_hash = m.hash)
    ORDER BY (SELECT count(*) FROM log.message_refs r WHERE m.hash IN (r.message_hash, r.ref_hash)) DESC, m.id LIMIT 1`);
  const [owner = "", player = ""] = row(`
    SELECT p.hash, p.key FROM core.players p JOIN log.messages m ON m.owner_id = p.hash
    WHERE p.namespace = 'ply' GROUP BY 1, 2 ORDER BY count(*) DESC, 1 LIMIT 1`);
  const [record = ""] = row("SELECT hash FROM knowledge.records ORDER BY hash LIMIT 1");
  const [doubtful = ""] = row(
    `SELECT hash FROM log.messages WHERE owner_id = '${owner}' AND hash <> '${message}' ORDER BY id LIMIT 1`,
  );
  const question = "Which room was booked, and does it have a sea view?";
  const { requestContext: kept } = await server.ask<{
    requestContext: { id: string; dropped: { hash: string }[] };
  }>("mutation ($i: ContextRequestInput!) { requestContext(input: $i) { id dropped { hash } } }", {
    i: { query: question, threshold: 0.3, limit: 4, tokenBudget: 600 },
  });
  const scopes = ["log:read", "context:select"];
  await server.makeToken({ kind: "AGENT", player: owner, scopes, note: "the desk’s assistant" });
  await server.ask("mutation ($m: Hash!, $r: String!) { quarantine(message: $m, reason: $r) { placedAt } }", {
    m: doubtful,
    r: "It may tell agents what to do: being looked into.",
  });
  const conversation = await tell(server);
  const desk = await makeWindow(server, { name: "Front desk", capacity: 600, task: "Answer guests" });
  await talk(server, desk, 0.72, 1);
  await makeWindow(server, { name: "A quiet evening", task: "Find a restaurant by the sea" });
  const window = await makeStay(server);
  const dropped = kept.dropped[0]?.hash ?? "";
  return {
    thread,
    session,
    message,
    sequence: Number(sequence),
    question,
    player,
    record,
    selection: kept.id,
    dropped,
    conversation,
    window,
  };
}

// What two programs tell: a conversation in memory, which is given, and events with an error.
async function tell(server: Server): Promise<string> {
  const start = 'mutation { startConversation(role: CLIENT, userId: "42") { id } }';
  await server.ask(start);
  const { startConversation: c } = await server.ask<{ startConversation: { id: string } }>(start);
  const said = [
    ["Do you have a room for two in June?", "With a view of the sea, or of the garden?", { guests: 2, month: "June" }],
    ["Of the sea, please. Not above 120 a night.", "Room 7 has one, at 110.", { view: "sea", most: 120 }],
  ] as const;
  for (const [u, a, s] of said) {
    await server.ask(
      `mutation ($c: String!, $u: String!, $a: String!, $s: JSON) {
        recordExchange(conversation: $c, user: $u, assistant: $a, state: $s) { id } }`,
      { c: c.id, u, a, s },
    );
  }
  server.sql("UPDATE memory.conversations SET expires_at = expires_at + INTERVAL '2 h'"); // looking at all pages takes time
  const event = (role: string, content: string, more: object = {}) => ({
    source: "webchat_backend",
    agent: "jarvis_webchat",
    user_id: "user_42",
    channel: "webchat",
    thread_id: "thread_1",
    role,
    content,
    ...more,
  });
  await server.deliver([
    event("user", "It is cold in here. I never want less than 20 degrees.", { importance: 2, tags: ["heating"] }),
    event("assistant", "Noted: never below 20. I set it to 21."),
    event("user", "And the lights in the hall?"),
    event("system", "The model answered 502.", {
      event_type: "error",
      importance: 1,
      payload: { error_code: "MODEL_502", attempt: 2, request: { model: "small", seconds: 31 } },
    }),
    event("assistant", "They are off now."),
  ]);
  return c.id;
}
