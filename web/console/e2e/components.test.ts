import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

// The player who sent most.
function player(): { hash: string; namespace: string; key: string; name: string; sent: number } {
  const row = server.sql(`SELECT p.hash, p.namespace, p.key, p.name, count(*) FROM core.players p
    JOIN log.messages m ON m.owner_id = p.hash GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1 LIMIT 1`);
  const [hash = "", namespace = "", key = "", name = "", sent] = row.split("|");
  return { hash, namespace, key, name, sent: Number(sent) };
}

describe("people and things", () => {
  it("open from the list, with what they sent, received and led", async () => {
    const { hash, namespace, key, name, sent } = player();
    const v = await visit();
    await v.signIn(`/components?kind=players&q=${encodeURIComponent(key)}`);
    await v.page.getByRole("listitem").getByRole("link").first().click();
    await v.page.waitForURL(new RegExp(`/components/${namespace}/`));
    await v.page.getByRole("heading", { name, level: 1 }).waitFor();
    await v.page.locator("dt", { hasText: "Sent" }).waitFor();
    const said = await v.page.locator("dl").first().innerText();
    expect(said.replace(/\s+/g, " ")).toContain(`Sent ${sent.toLocaleString("en")}`);
    await v.go(`/components/${namespace}/${hash}`); // the same by hash
    await v.page.getByRole("heading", { name, level: 1 }).waitFor();
    await v.end();
  });

  it.each([
    ["Sent", "owner_id = $"],
    ["Received", "$ = ANY (players_id)"],
    ["Led", "master_player = $"],
  ])("lead to the threads of what a player has %s", async (word, where) => {
    const [hash = "", n = ""] = server
      .sql(`SELECT p.hash, count(DISTINCT m.thread_hash) FROM core.players p
        JOIN log.messages m ON ${where.replace("$", "p.hash")} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1`)
      .split("|");
    const v = await visit();
    await v.signIn(`/components/ply/${hash}`);
    await v.page.getByRole("link", { name: `${word}: threads` }).click();
    await v.page.getByText(new RegExp(`^${n} match(es)?, latest first$`)).waitFor();
    await v.page.getByRole("list", { name: "Filters that are set" }).getByText(`${word} by`).waitFor();
    await v.end();
  });

  it("show their use as a chart and as a table, by day, week or month, kept in the address", async () => {
    const { hash } = player();
    const v = await visit();
    await v.signIn(`/components/ply/${hash}`);
    await v.page.getByRole("img", { name: /messages? over time/ }).waitFor();
    await v.page.getByText("Month", { exact: true }).click();
    await v.page.waitForURL(/by=month/);
    await v.page.getByText("Table", { exact: true }).click();
    await v.page.waitForURL(/use=table/);
    await v.page.getByRole("table", { name: "Use" }).waitFor();
    const rows = await v.page.getByRole("table", { name: "Use" }).locator("tbody tr").count();
    const months =
      server.sql(`SELECT count(DISTINCT date_trunc('month', created_at AT TIME ZONE 'UTC')) FROM log.messages
      WHERE '${hash}' = owner_id OR '${hash}' = ANY (players_id) OR '${hash}' = master_player`);
    expect(rows).toBe(Number(months));
    await v.page.reload();
    await v.page.getByRole("table", { name: "Use" }).waitFor();
    await v.end();
  });

  it("are described and changed by keyboard, with the server's bounds", async () => {
    const v = await visit();
    await v.signIn("/components");
    await v.page.getByRole("listitem").first().waitFor();
    await v.page.keyboard.press("n");
    const form = v.page.getByRole("complementary", { name: "Describe a component" });
    await form.waitFor();
    await form.getByLabel("Name", { exact: true }).fill("Night train");
    await form.getByLabel("Data", { exact: true }).fill("{no json");
    await form.getByRole("button", { name: "Save" }).press("Enter");
    await form.getByText("Write a key.").waitFor();
    await form.getByText("This is not JSON.").waitFor();
    await form.getByLabel("Key", { exact: true }).fill("night-train");
    await form.getByLabel("Data", { exact: true }).fill('{"berths": 4}');
    await form.getByRole("button", { name: "Save" }).press("Enter");
    await v.page.waitForURL(/\/components\/hst\/night-train$/);
    await v.page.getByRole("heading", { name: "Night train", level: 1 }).waitFor();
    await v.page.getByText("No message that you may see names it.").first().waitFor();

    await v.page.keyboard.press("e");
    const change = v.page.getByRole("complementary", { name: "Change the component" });
    await change.getByLabel("Description", { exact: true }).fill("Sleeps well.");
    // Somebody else is faster.
    await server.ask(
      'mutation { upsertComponents(components: [{namespace: HST, key: "night-train", name: "Sleeper"}]) { hash } }',
    );
    await change.getByRole("button", { name: "Save" }).press("Enter");
    await change.getByText("Somebody changed Sleeper while this form was open. Nothing was saved.").waitFor();
    await change.getByRole("button", { name: "Save mine over it" }).press("Enter");
    await change.waitFor({ state: "detached" });
    await v.page.getByText("Sleeps well.").waitFor();
    // What was not changed here stays the other's.
    await v.page.getByRole("heading", { name: "Sleeper", level: 1 }).waitFor();
    await v.end();
  });

  it("tell apart nothing there, not described, filtered out, failed and not permitted", async () => {
    const v = await visit();
    await v.signIn("/components/hst/no-such-key");
    await v.page.getByText("Nothing has this address").waitFor();
    await v.go(`/components/any/${"a".repeat(64)}`);
    await v.page.getByText("not described", { exact: true }).waitFor();
    await v.page.getByText("No message that you may see names it.").waitFor();
    await v.go("/components?q=no+such+thing+at+all");
    await v.page.getByRole("button", { name: "Show all" }).click();
    await v.page.getByRole("listitem").first().waitFor();
    await v.page.route("**/graphql", (route) => route.fulfill({ status: 503, body: "no" }));
    await v.go("/components/hst/no-such-key");
    await v.page.getByRole("button", { name: "Try again" }).waitFor();
    await v.end(/status of 503/);

    const { secret } = await server.makeToken({ kind: "AGENT", player: player().hash, scopes: ["log:read"] });
    const other = await visit();
    await other.signIn("/components?new", secret);
    await other.page.getByText("You may not describe others").waitFor();
    await expect.poll(() => other.page.getByRole("button", { name: "Describe…" }).count()).toBe(0);
    await other.end();
  });

  it("speak Spanish", async () => {
    const { hash } = player();
    const v = await visit();
    await v.signIn(`/components/ply/${hash}`);
    await v.page.evaluate(() => localStorage.setItem("language", "es"));
    await v.page.reload();
    await v.page.getByRole("heading", { name: "Uso" }).waitFor();
    await v.end();
  });

  it("have no finding of axe", async () => {
    const { hash } = player();
    const v = await visit();
    await v.signIn(`/components/ply/${hash}`);
    await v.page.getByRole("img", { name: /over time/ }).waitFor();
    await v.everyLook("a player", v.page.getByRole("table", { name: "Latest messages" }));
    await v.go("/components?new");
    await v.everyLook("the form", v.page.getByLabel("Key", { exact: true }));
    await v.end();
  });
});
