// One field of one message altered below the server, as the database's superuser: one click on the chain page names the
// field, the message and what it was, whatever the server says.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;
let session = "";
let victim = ""; // its fourth message

beforeAll(async () => {
  [server, browser] = [await startServer(), await startBrowser()];
  const row = server.sql(`SELECT m.session_hash, m.hash FROM log.messages m
    WHERE m.sequence = 4 AND m.flag_id IS NOT NULL AND m.loc_id IS NOT NULL AND m.item_id <> '{}' AND m.hashtags <> '{}'
      AND m.attachments <> '{}' AND EXISTS (SELECT FROM log.messages n WHERE n.prev_hash = m.hash)
    ORDER BY m.id LIMIT 1`);
  [session = "", victim = ""] = row.split("|");
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const at = () => `session_hash = '${session}' AND sequence = 4`;

function alter(change: string, where = at()): void {
  server.sql(`BEGIN; ALTER TABLE log.messages DISABLE TRIGGER ALL; UPDATE log.messages SET ${change} WHERE ${where};
    ALTER TABLE log.messages ENABLE TRIGGER ALL; COMMIT`);
}

// Alters the message, runs, and puts it back.
async function altered(change: string, then: () => Promise<void>): Promise<void> {
  server.sql("CREATE TABLE IF NOT EXISTS public.kept AS SELECT * FROM log.messages LIMIT 0");
  server.sql(`TRUNCATE public.kept; INSERT INTO public.kept SELECT * FROM log.messages WHERE ${at()}`);
  alter(change);
  try {
    await then();
  } finally {
    server.sql(`BEGIN; ALTER TABLE log.messages DISABLE TRIGGER ALL;
      DELETE FROM log.messages WHERE id = (SELECT id FROM public.kept); INSERT INTO log.messages SELECT * FROM public.kept;
      ALTER TABLE log.messages ENABLE TRIGGER ALL; COMMIT`);
  }
}

// Opens the session anew, presses Verify, and gives what this browser found.
async function oneClick(v: Visit, path = `/sessions/${session}`): Promise<string> {
  await v.go(path);
  await v.page.getByRole("button", { name: "Verify", exact: true }).click();
  const section = v.page.getByRole("region", { name: "Verification" });
  await section.getByText("The script that checked this").waitFor();
  const found = section.getByRole("heading", { name: "Found by this browser" }).locator("..");
  return (await found.innerText()).replace(/\s+/g, " ");
}

const value = (column: string) => server.sql(`SELECT ${column} FROM log.messages WHERE hash = '${victim}'`);
const any = "repeat('ab', 32)";

describe("a message that was taken out of its thread", () => {
  it("is named there, and shown in its session", async () => {
    const thread = value("thread_hash");
    const v = await Visit.begin(browser, server);
    await v.signIn("/settings");
    await altered(`thread_hash = ${any}`, async () => {
      expect(await oneClick(v, `/threads/${thread}`)).toContain("Altered: its thread.");
      await v.page.getByRole("button", { name: "Show" }).first().click();
      await v.page.waitForURL(new RegExp(`/sessions/${session}\\?message=4\\.${victim.slice(0, 12)}`));
      const panel = v.page.getByRole("complementary", { name: "Message" });
      await panel.getByRole("heading", { name: "Message #4" }).waitFor();
      await panel.getByText("Altered: what is shown here is not what its hash covers; its hash is leaf").waitFor();
      expect(await panel.innerText()).not.toContain("no signed checkpoint");
    });
    await v.end();
  });
});

describe("one field of one message, altered in the database, is named by one click", () => {
  const cases: [column: string, change: string, words: string, was: () => string][] = [
    ["thread_hash", any, "its thread", () => value("thread_hash")],
    ["owner_id", any, "its sender", () => value("owner_id")],
    ["players_id", "'{}'", "its receivers", () => value("players_id[1]")],
    ["master_player", any, "its coordinator", () => "none"],
    ["role", "'admin'", "its role", () => value("role")],
    ["event_type", "'error'", "its event type", () => "message"],
    ["importance", "2", "its importance", () => value("importance")],
    ["channel", "'elsewhere'", "its channel", () => value("channel")],
    ["source", "NULL", "its source", () => value("source")],
    ["hashtags", "'{}'", "its tags", () => value("hashtags[1]")],
    ["flag_id", "NULL", "its flag", () => value("flag_id")],
    ["master_item_id", any, "its main item", () => value("master_item_id")],
    ["item_id", `item_id || ${any}::CHAR(64)`, "its items", () => value("item_id[1]")],
    ["loc_id", "NULL", "its location", () => value("loc_id")],
    [
      "created_at",
      "created_at + '3 days'",
      "its time",
      () => value("to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"),
    ],
    ["created_at", "created_at + '7 seconds 5 microseconds'", "its time", () => ""],
    ["content", "content || ' Or not.'", "its content", () => value("left(content, 40)")],
    ["content", "replace(content, '1', '7')", "its content, attachments, ambient or salt", () => ""],
    ["attachments", "'{}'", "its content, attachments, ambient or salt", () => ""],
    ["ambient", `'{"a": 1}'`, "its ambient", () => "none"],
    ["salt", "sha256('x')::BYTEA", "its content, attachments, ambient or salt", () => ""],
    ["content_digest", any, "its content digest", () => value("content_digest")],
    ["refs_digest", any, "its digest of refs", () => value("refs_digest")],
    ["hash", any, "its hash itself", () => victim],
    ["prev_hash", any, "its link to the message before", () => value("prev_hash")],
    ["sequence", "4000", "its sequence", () => "4"],
  ];

  let v: Visit;
  beforeAll(async () => {
    v = await Visit.begin(browser, server);
    await v.signIn("/settings");
  });
  afterAll(async () => {
    await v?.end();
  });

  it.each(cases)("%s = %s", async (column, change, words, was) => {
    const before = was();
    await altered(`${column} = ${column === "salt" ? `substr(${change}, 1, 16)` : change}`, async () => {
      const found = await oneClick(v);
      expect(found.toLowerCase()).toContain(words);
      expect(found).toContain(before);
      expect(found).toMatch(/computed here [0-9a-f]{64} stated [0-9a-f]{64}/);
    });
  });
});
