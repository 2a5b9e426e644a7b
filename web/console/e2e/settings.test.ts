// Settings and health, and tables that are taken away.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { forge } from "./forge";
import { narrowLooks } from "./looks";
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
const region = (v: Visit, name: string) => v.page.getByRole("region", { name, exact: true });

describe("settings and health", () => {
  it("shows what runs and which limits are in force, as the API tells", async () => {
    const { server: of } = await server.ask<{ server: { migration: number; limits: { name: string }[] } }>(
      "{ server { migration limits { name } } }",
    );
    const v = await visit();
    await v.signIn("/settings");
    await region(v, "The server").getByRole("definition").getByText(String(of.migration), { exact: true }).waitFor();
    const limits = v.page.getByRole("table", { name: "Limits" });
    expect(await limits.getByRole("rowheader").allInnerTexts()).toEqual(of.limits.map((l) => l.name));
    await limits.getByRole("button", { name: "Name" }).click();
    expect(await limits.getByRole("columnheader", { name: "Name" }).getAttribute("aria-sort")).toBe("ascending");
    const sorted = await limits.getByRole("rowheader").allInnerTexts();
    expect(sorted).toEqual(sorted.toSorted(new Intl.Collator("en-GB", { numeric: true }).compare));
    await v.page.getByRole("link", { name: "Tokens" }).last().click();
    await v.page.waitForURL(/\/tokens$/);
    await v.end();
  });

  it("keeps what is chosen for this browser, by keyboard alone", async () => {
    const v = await visit();
    await v.signIn("/settings");
    await v.tabTo(/^Single-letter keys/);
    await v.page.keyboard.press("Space");
    await v.page.reload();
    const box = v.page.getByRole("checkbox", { name: /^Single-letter keys/ });
    await box.waitFor();
    expect(await box.isChecked()).toBe(false);
    await v.end();
  });

  it("says that a request failed", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.route("**/graphql", (r) =>
      r.request().postData()?.includes("query Server") ? r.abort() : r.continue(),
    );
    await v.go("/settings");
    await v.page.getByRole("heading", { name: "The server does not answer" }).waitFor();
    await expect.poll(() => v.page.getByRole("table", { name: "Limits" }).count()).toBe(0);
    await v.page.unroute("**/graphql");
    await v.page.getByRole("button", { name: "Try again" }).click();
    await v.page.getByRole("table", { name: "Limits" }).waitFor();
    await v.end(/ERR_FAILED/);
  });

  it("tells an agent that the server's state is for administrators, and asks for none of it", async () => {
    const player = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1");
    const { secret } = await server.makeToken({ kind: "AGENT", player, scopes: ["log:read"] });
    const v = await visit();
    let asked = 0;
    v.page.on("request", (r) => {
      if (r.postData()?.includes("query Server")) asked++;
    });
    await v.signIn("/settings", secret);
    await v.page.getByText("are for administrators.").waitFor();
    await v.page.getByRole("checkbox", { name: /^Single-letter keys/ }).waitFor();
    expect(asked).toBe(0);
    await v.end();
  });
});

describe("a table that is taken away", () => {
  const menu = async (v: Visit) => v.page.getByRole("button", { name: "Take…" }).first().click();
  const download = async (v: Visit, name: string) => {
    const [file] = await Promise.all([v.page.waitForEvent("download"), v.page.getByRole("button", { name }).click()]);
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
  };

  it("holds every row, also those that were not loaded, and no formula", async () => {
    const drafts = Array.from({ length: 120 }, (_, i) => ({ namespace: "ITM", key: `take-${i}`, name: `=1+${i}` }));
    for (let i = 0; i < drafts.length; i += 40) {
      await server.ask("mutation ($c: [ComponentInput!]!) { upsertComponents(components: $c) { hash } }", {
        c: drafts.slice(i, i + 40),
      });
    }
    const v = await visit();
    await v.signIn("/components?kind=items");
    await v.page.getByRole("listitem").first().waitFor();
    await menu(v);
    const items = Number(server.sql("SELECT count(*) FROM core.items"));
    const json = await download(v, "Download the table as JSON");
    expect([json.name, (JSON.parse(json.text) as unknown[]).length]).toEqual(["components.json", items]);
    const csv = await download(v, "Download the table as CSV");
    expect(csv.text.split("\r\n")).toHaveLength(items + 2);
    expect(csv.text).toContain(",'=1+7,");
    await v.page.getByText(`${items} rows saved.`).waitFor();
    await v.accessible("the menu");
    await v.end();
  });

  it.each<[string, string, string, number, object]>([
    ["/settings", "Roles in the database", "roles", 3, { name: "cm_writer", superuser: false }],
    ["/settings", "Witnesses", "witnesses", 1, { name: "a witness", size: 3, problem: "" }],
    ["/overview", "Pace", "pace", 1, { lag: expect.any(Number) }],
  ])("is copied as JSON (%s, %s)", async (path, title, file, least, one) => {
    const v = await visit();
    await v.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.base });
    const witness = { name: "a witness", url: "", size: 3, signedAt: "2026-01-01T00:00:00Z", problem: "" };
    await forge<{ seal: { witnesses: object[] } }>(v, "Seal", ({ seal }) => seal.witnesses.push(witness));
    await v.signIn(path);
    const take = v.page
      .locator("div", { has: v.page.getByRole("heading", { name: title, exact: true }) })
      .last()
      .getByRole("button");
    await take.first().click();
    await v.page.getByRole("button", { name: "Copy the table as JSON" }).locator("visible=true").click();
    await v.page.getByText(/^\d+ rows? copied\.$/).waitFor();
    const rows = JSON.parse(await v.page.evaluate(() => navigator.clipboard.readText())) as object[];
    expect(rows.length).toBeGreaterThanOrEqual(least);
    expect(rows).toContainEqual(expect.objectContaining(one));
    const json = await download(v, "Download the table as JSON");
    expect(json.name).toBe(`${file}.json`);
    await v.end();
  });

  it("says that it failed, and takes nothing", async () => {
    const v = await visit();
    await v.signIn("/components?kind=items");
    await v.page.getByRole("listitem").first().waitFor();
    await v.page.route("**/graphql", (r) => r.abort());
    await menu(v);
    await v.page.getByRole("button", { name: "Download the table as CSV" }).click();
    await v.page.getByText("Nothing was taken:").waitFor();
    await v.end(/ERR_FAILED/);
  });

  it("can be cancelled", async () => {
    const v = await visit();
    await v.signIn("/components?kind=items");
    await v.page.getByRole("listitem").first().waitFor();
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await v.page.route("**/graphql", (r) => held.then(() => r.continue()));
    await menu(v);
    await v.page.getByRole("button", { name: "Download the table as CSV" }).click();
    await v.page.getByRole("button", { name: "Cancel" }).click();
    go();
    await v.page.getByText("Cancelled. Nothing was taken.").waitFor();
    await v.end();
  });

  it("copies the request as a command that works with a token, and holds none", async () => {
    const v = await visit();
    await v.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.base });
    await v.signIn("/records?q=it%27s");
    await v.page.keyboard.press("Control+k"); // by the palette, without a pointer
    await v.page.getByRole("option").first().waitFor();
    await v.page.keyboard.type("curl");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("Copied, with $TOKEN in place of a token.").waitFor();
    const command = await v.page.evaluate(() => navigator.clipboard.readText());
    expect(command).not.toContain("cmadm_");
    const answer = execFileSync("sh", ["-c", command], {
      encoding: "utf8",
      env: { ...process.env, TOKEN: server.token },
    });
    expect(answer).toContain('"data":{"records"');
    await v.end();
  });
});

it.each(["en", "es"])("has no finding of axe, and fits (%s)", async (language) => {
  const v = await visit();
  await v.signIn("/records");
  await v.page.evaluate((l) => localStorage.setItem("language", l), language);
  await v.go("/settings");
  await v.everyLook(`settings, ${language}`, v.page.getByRole("table"), narrowLooks);
  await v.end();
});
