// The overview: totals, the live pace, the seal, and first what is wrong.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
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
const total = (v: Visit, name: string) =>
  region(v, "What there is")
    .locator("div", { has: v.page.getByText(name, { exact: true }) })
    .locator("dd");

async function agent(scopes: string[]): Promise<string> {
  const player = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1");
  return (await server.makeToken({ kind: "AGENT", player, scopes })).secret;
}

describe("the overview", () => {
  it("is the first page: totals, pace and seal as the database has them, and it goes on by itself", async () => {
    const v = await visit();
    await v.signIn();
    await v.page.waitForURL(`${server.base}/overview`);
    const messages = () => Number(server.sql("SELECT count(*) FROM log.messages"));
    await expect.poll(() => total(v, "Messages").innerText()).toBe(new Intl.NumberFormat("en-GB").format(messages()));
    await region(v, "The seal").locator("code").first().waitFor();
    await region(v, "Pace").locator("canvas").first().waitFor();
    await region(v, "What is wrong").waitFor();

    const session = server.sql("SELECT session_hash FROM log.messages WHERE sequence = 1 ORDER BY id LIMIT 1");
    await server.append(session, "one more while somebody looks");
    await expect
      .poll(() => total(v, "Messages").innerText(), { timeout: 30_000 })
      .toBe(new Intl.NumberFormat("en-GB").format(messages()));
    const leads = region(v, "What there is").getByRole("link", { name: "Selections", exact: true });
    expect(await leads.getAttribute("href")).toBe("/selections");
    await v.page.getByText("The same as a table").click();
    await expect.poll(() => region(v, "Pace").getByRole("row").count()).toBeGreaterThan(2);
    await v.end();
  });

  it("asks no more while it is paused, by keyboard alone", async () => {
    const v = await visit();
    await v.signIn("/overview");
    await total(v, "Messages").waitFor();
    await v.page.keyboard.press("p");
    await v.page.getByText("Paused: as it was a moment ago").waitFor();
    expect(await v.page.getByRole("button", { name: "Pause" }).getAttribute("aria-pressed")).toBe("true");
    let asked = 0;
    v.page.on("request", (r) => {
      if (r.postData()?.includes("query Overview")) asked++;
    });
    await v.page.waitForTimeout(5_000); // more than twice its pace
    expect(asked).toBe(0);
    await v.page.keyboard.press("p");
    await expect.poll(() => asked).toBeGreaterThan(0);
    await v.end();
  });

  it("says that a request failed, and keeps what it had as of then", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.route("**/graphql", (r) =>
      r.request().postData()?.includes("query Overview") ? r.abort() : r.continue(),
    );
    await v.go("/overview");
    await v.page.getByRole("heading", { name: "The server does not answer" }).waitFor();
    await expect.poll(() => v.page.getByText("Messages", { exact: true }).count()).toBe(0);
    await v.page.unroute("**/graphql");
    await total(v, "Messages").waitFor();
    await v.page.route("**/graphql", (r) => r.abort());
    await v.page.getByRole("alert").filter({ hasText: "The last request failed" }).waitFor();
    expect(await total(v, "Messages").innerText()).not.toBe("0");
    await v.end(/ERR_FAILED/);
  });

  it("tells what is wrong first, with severity in words", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.route("**/graphql", async (r) => {
      if (!r.request().postData()?.includes("query Overview")) return r.continue();
      const answer = await r.fetch();
      const body = await answer.json();
      body.data.overview.problems = [{ severity: "CRITICAL", code: "SEAL_REFUSED", message: "<b>not</b> markup" }];
      await r.fulfill({ response: answer, json: body });
    });
    await v.go("/overview");
    const wrong = region(v, "What is wrong").getByRole("listitem");
    await wrong.getByText("Critical: nothing is signed").waitFor();
    await wrong.getByText("<b>not</b> markup").waitFor();
    const parts = region(v, "Overview").getByRole("region");
    await expect.poll(() => parts.count()).toBeGreaterThan(3);
    expect(await parts.first().getByRole("heading").first().innerText()).toBe("What is wrong");
    await v.accessible("an overview with a problem");
    await v.page.unrouteAll({ behavior: "ignoreErrors" });
    await v.end();
  });

  it("shows an agent what they may see, and nothing of the seal without verify", async () => {
    const secret = await agent(["log:read"]);
    const v = await visit();
    await v.signIn("/overview", secret);
    await v.page.getByText("Of what you may see.").waitFor();
    await expect.poll(() => region(v, "The seal").count()).toBe(0);
    await expect.poll(() => v.page.getByText("Sealing lag, seconds").count()).toBe(0);
    await v.end();
  });

  it("is not open without log:read", async () => {
    const secret = await agent(["context:select"]);
    const v = await visit();
    await v.signIn("/overview", secret);
    await v.page.getByText("It needs a token with the scope log:read, which yours lacks.").waitFor();
    await v.end();
  });
});

it.each(["en", "es"])("has no finding of axe, and fits (%s)", async (language) => {
  const v = await visit();
  await v.signIn("/records");
  await v.page.evaluate((l) => localStorage.setItem("language", l), language);
  await v.go("/overview");
  await v.everyLook(`the overview, ${language}`, v.page.locator("canvas"), narrowLooks);
  await v.end();
});
