import type { Browser, Locator } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await startServer();
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);

type Target = { thread: string; hash: string; sequence: string; owner: string; content: string };

// The n-th message whose words are long enough to be searched for.
function target(n: number): Target {
  const row = server.sql(`
    SELECT m.thread_hash, m.hash, m.sequence, m.owner_id, m.content FROM log.messages m
    WHERE m.sequence BETWEEN 2 AND 6 AND m.event_type = 'message' AND length(m.content) BETWEEN 60 AND 200
      AND strpos(m.content, '|') + strpos(m.content, chr(10)) = 0 AND m.thread_hash IS NOT NULL
    ORDER BY m.id OFFSET ${n} LIMIT 1`);
  const [thread = "", hash = "", sequence = "", owner = "", content = ""] = row.split("|");
  return { thread, hash, sequence, owner, content };
}

// Asks for context in the words of a message, and gives the id of the selection and what it holds.
async function select(m: Target, token?: string): Promise<{ id: string; hashes: string[] }> {
  const query = `mutation ($i: ContextRequestInput!) {
    requestContext(input: $i) { id items { source { ... on Message { hash } } } } }`;
  const input = { query: m.content, threshold: 0, limit: 50, scope: { threads: [m.thread] } };
  type Answer = { requestContext: { id: string; items: { source: { hash?: string } }[] } };
  const { requestContext: s } = await server.ask<Answer>(query, { i: input }, token);
  return { id: s.id, hashes: s.items.map((i) => i.source.hash ?? "") };
}

const place = (m: Target, reason: string) =>
  server.ask("mutation ($m: Hash!, $r: String!) { quarantine(message: $m, reason: $r) { placedAt } }", {
    m: m.hash,
    r: reason,
  });

const panel = (v: Visit) => v.page.getByRole("complementary", { name: "Message" });
const row = (v: Visit, m: Target) => v.page.getByRole("article", { name: `Message ${m.sequence}`, exact: true });

async function give(v: Visit, button: string, reason: string): Promise<Locator> {
  await v.page.getByRole("button", { name: button, exact: true }).click();
  const dialog = v.page.getByRole("dialog");
  await dialog.getByLabel("Reason, for the record").fill(reason);
  return dialog;
}

it("takes a message out of selections, says why and which hold it, and lets it in again", async () => {
  const m = target(0);
  const before = await select(m);
  expect(before.hashes).toContain(m.hash);
  const v = await visit();
  await v.signIn(`/messages/${m.hash}`);
  const dialog = await give(v, "Quarantine…", "It tells agents what to do.");
  expect(await dialog.innerText()).toMatch(/What ends:[\s\S]*What stays:[\s\S]*on record/);
  await v.accessible("the dialog");
  await dialog.getByRole("button", { name: "Quarantine", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await panel(v).getByText("In quarantine: no selection from now on holds it.").waitFor();
  await panel(v).getByText("It tells agents what to do.").waitFor();
  await row(v, m).getByText("In quarantine").waitFor();
  await expect.poll(async () => (await select(m)).hashes, { timeout: 5_000 }).not.toContain(m.hash);

  await v.go("/quarantine");
  const item = v.page.getByRole("article").filter({ hasText: m.content });
  await item.getByText("It tells agents what to do.").waitFor();
  await item.getByText("Held by 1 selection:").waitFor();
  await item.getByRole("link", { name: /^Selection of/ }).click();
  await v.page.waitForURL((url) => url.searchParams.get("selection") === before.id);
  await v.page.getByText("in quarantine now").first().waitFor();

  await v.go("/quarantine");
  const release = await give(v, "Release…", "Read again: harmless.");
  await release.getByRole("button", { name: "Release", exact: true }).click();
  await v.page.getByText("Nothing is in quarantine").waitFor();
  await v.page.getByText("Released", { exact: true }).click();
  await item.getByText("Read again: harmless.").waitFor();
  await expect.poll(() => item.getByRole("button", { name: "Release…" }).count()).toBe(0);
  await expect.poll(async () => (await select(m)).hashes, { timeout: 5_000 }).toContain(m.hash);

  await item.getByRole("link", { name: "on record" }).last().click();
  await v.page.getByRole("heading", { name: "What you did as administrator" }).waitFor();
  await panel(v).getByText("Read again: harmless.").first().waitFor();
  await v.end();
});

it("lists all selections that hold a message, and whose they are", async () => {
  const m = target(1);
  const [name = ""] = server.sql(`SELECT name FROM core.players WHERE hash = '${m.owner}'`).split("\n");
  const { secret } = await server.makeToken({ kind: "CLIENT", player: m.owner });
  await select(m, secret);
  for (let i = 0; i < 4; i++) await select(m);
  await place(m, "Too many have it.");
  type Held = { quarantine: { selections: { totalCount: number } } };
  const query = "query ($m: Hash!) { quarantine(message: $m) { selections { totalCount } } }";
  const held = (await server.ask<Held>(query, { m: m.hash })).quarantine.selections.totalCount;
  expect(held).toBeGreaterThanOrEqual(5);
  const v = await visit();
  await v.signIn("/quarantine");
  const item = v.page.getByRole("article").filter({ hasText: "Too many have it." });
  const links = item.getByRole("link", { name: /^Selection of/ });
  await links.first().waitFor();
  await expect.poll(() => links.count()).toBe(3);
  await item.getByRole("button", { name: "Show all selections" }).click();
  await item.getByText(`Held by ${held} selections:`).waitFor();
  await expect.poll(() => links.count()).toBe(held);
  expect(
    await item
      .getByRole("listitem")
      .filter({ hasText: `for ${name}` })
      .count(),
  ).toBe(1);
  await v.end();
});

it("is a mark for those who are no administrators, without reason or way out", async () => {
  const m = target(2);
  await place(m, "For administrators to know.");
  const { secret } = await server.makeToken({ kind: "CLIENT", player: m.owner });
  const v = await visit();
  const refused: string[] = [];
  v.page.on("response", async (r) => {
    if (r.url().endsWith("/graphql") && (await r.text().catch(() => "")).includes("FORBIDDEN")) refused.push(r.url());
  });
  await v.signIn(`/messages/${m.hash}`, secret);
  await panel(v).getByText("An administrator has taken it out of selections.").waitFor();
  await row(v, m).getByText("In quarantine").waitFor();
  await expect.poll(() => v.page.getByText("For administrators to know.").count()).toBe(0);
  await expect.poll(() => v.page.getByRole("button", { name: /Quarantine…|Release…/ }).count()).toBe(0);
  await expect.poll(() => v.page.getByRole("link", { name: "Quarantine" }).count()).toBe(0);
  await v.go("/quarantine");
  await v.page.getByText("It is for administrators; you are signed in as client.").waitFor();
  expect(refused).toEqual([]);
  await v.end();
});

it("is said in the dialog if the server refuses it", async () => {
  const m = target(3);
  const v = await visit();
  await v.signIn(`/messages/${m.hash}`);
  const dialog = await give(v, "Quarantine…", "It does not work.");
  await v.page.route("**/graphql", (route) =>
    route.request().postData()?.includes("PlaceInQuarantine")
      ? route.fulfill({
          contentType: "application/json",
          body: '{"errors":[{"message":"the database cannot be written","extensions":{"code":"UNAVAILABLE"}}]}',
        })
      : route.continue(),
  );
  await dialog.getByRole("button", { name: "Quarantine", exact: true }).click();
  await dialog.getByRole("alert").getByText("UNAVAILABLE").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await v.end();
});

it("goes by keyboard alone", async () => {
  const m = target(4);
  const v = await visit();
  await v.signIn(`/messages/${m.hash}`);
  await panel(v).getByRole("button", { name: "Quarantine…" }).waitFor();
  await v.tabTo(/^Quarantine…$/);
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("dialog").waitFor();
  await v.page.keyboard.type("By keyboard.");
  await v.tabTo(/^Quarantine$/);
  await v.page.keyboard.press("Enter");
  await panel(v).getByText("By keyboard.").waitFor();
  await v.tabTo(/^Release…$/);
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("dialog").waitFor();
  await v.page.keyboard.press("Escape");
  await v.page.getByRole("dialog").waitFor({ state: "detached" });
  await panel(v).getByText("In quarantine: no selection from now on holds it.").waitFor();
  await v.end();
});

it("has no finding of axe", async () => {
  const m = target(5);
  await select(m);
  await place(m, "To be looked at.");
  const v = await visit();
  await v.signIn("/quarantine");
  await v.everyLook("the list", v.page.getByRole("article"));
  await v.go(`/messages/${m.hash}`);
  await v.everyLook("a message in quarantine", panel(v).getByText("To be looked at."));
  await panel(v)
    .getByRole("link", { name: /^Selection of/ })
    .first()
    .click();
  await v.everyLook("a selection that holds it", v.page.getByText("in quarantine now"));
  await v.end();
});
