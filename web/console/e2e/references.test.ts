import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;
let message = ""; // of the sample: with refs, and sent with others later
let refs = 0;
let cited = 0;

beforeAll(async () => {
  server = await startServer();
  browser = await startBrowser();
  const row = server.sql(`SELECT m.hash, (SELECT count(*) FROM log.message_refs r WHERE r.message_hash = m.hash),
      (SELECT count(*) FROM log.message_refs r WHERE r.ref_hash = m.hash)
    FROM log.messages m ORDER BY LEAST(1, (SELECT count(*) FROM log.message_refs r WHERE r.message_hash = m.hash))
      * LEAST(1, (SELECT count(*) FROM log.message_refs r WHERE r.ref_hash = m.hash)) DESC, m.id LIMIT 1`);
  const [hash = "", sent, later] = row.split("|");
  [message, refs, cited] = [hash, Number(sent), Number(later)];
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);

describe("references", () => {
  it("are tables of what a message was sent with, and of what was sent with it", async () => {
    expect(refs).toBeGreaterThan(0);
    const v = await visit();
    await v.signIn(`/messages/${message}/references`);
    await v.page.getByRole("table", { name: /^Sent with/ }).waitFor();
    expect(
      await v.page
        .getByRole("table", { name: /^Sent with/ })
        .locator("tbody tr")
        .count(),
    ).toBe(refs);
    if (cited > 0) {
      const later = v.page.getByRole("table", { name: /later sent with it/ });
      await later.waitFor();
      await expect.poll(() => later.locator("tbody tr").count()).toBe(Math.min(100, cited));
    }
    await v.end();
  });

  it("narrow to one type, in the address, and tell when that leaves none", async () => {
    const type = server.sql(`SELECT t FROM unnest(ARRAY['CONTEXT', 'ACCOUNTANT', 'SECRETARY']) t
      WHERE NOT EXISTS (SELECT FROM log.message_refs r WHERE r.message_hash = '${message}' AND upper(r.ref_type::TEXT) = t) LIMIT 1`);
    if (type === "") throw new Error("the sample's message has refs of every type");
    const v = await visit();
    await v.signIn(`/messages/${message}/references?type=${type}`);
    await v.page.getByRole("heading", { name: "None of this type" }).waitFor();
    await v.end();
  });

  it("are a graph that the keyboard walks, and Enter puts another message in the middle", async () => {
    const v = await visit();
    await v.signIn(`/messages/${message}/references`);
    await v.page.getByText("Graph", { exact: true }).click();
    await v.page.waitForURL(/view=graph/);
    const graph = v.page.getByRole("region", { name: /^Graph of references/ });
    await graph.waitFor();
    const middle = graph.locator("[data-step='0']");
    await middle.focus();
    const from = v.page.url();
    // A walk in every direction ends at some message that can be put into the middle.
    for (const arrow of ["ArrowLeft", "ArrowRight", "ArrowDown", "ArrowUp"]) {
      await v.page.keyboard.press("Home");
      await v.page.keyboard.press(arrow);
      const kind = await v.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.kind);
      const step = await v.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.step);
      if (kind === "message" && step !== "0") break;
    }
    const walked = await v.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.hash ?? "");
    expect(walked).not.toBe(message);
    await v.page.keyboard.press("Enter");
    await v.page.waitForURL(new RegExp(`/messages/${walked}/references`));
    // The focus goes on where it was: at the middle.
    await expect
      .poll(() => v.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.hash ?? ""))
      .toBe(walked);
    await v.page.goBack();
    await v.page.waitForURL(from);
    await v.end();
  });

  it("say that there is no such message, and that a request failed", async () => {
    const v = await visit();
    await v.signIn(`/messages/${"0".repeat(64)}/references`);
    await v.page.getByText("No message has this hash").waitFor();
    await v.page.route("**/graphql", (route) => route.fulfill({ status: 503, body: "no" }));
    await v.go(`/messages/${message}/references`);
    await v.page.getByRole("button", { name: "Try again" }).first().waitFor();
    await v.end(/status of 503/);
  });

  it("draw at most a hundred, and say of how many", async () => {
    const session = server.sql("SELECT session_hash FROM log.messages ORDER BY id LIMIT 1");
    const owner = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1");
    const query = "mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }";
    const one = (content: string) => ({
      sessionHash: session,
      ownerId: owner,
      content,
      refs: [{ type: "CONTEXT", hash: message }],
    });
    await server.ask(query, { m: Array.from({ length: 150 }, (_, i) => one(`again ${i}`)) });
    const v = await visit();
    await v.signIn(`/messages/${message}/references`);
    await v.page.getByText(`100 of ${cited + 150} shown.`).waitFor();
    await v.go(`/messages/${message}/references?view=graph`);
    const graph = v.page.getByRole("region", { name: "Graph of references: 100 messages and records" });
    await graph.getByText(`99 of ${refs + cited + 150} that it is linked with are shown`).waitFor();
    await expect.poll(() => graph.locator("[data-hash]").count()).toBe(100);
    await v.end();
  });

  it("have no finding of axe", async () => {
    const v = await visit();
    await v.signIn(`/messages/${message}/references`);
    await v.everyLook("references", v.page.getByRole("table"));
    await v.go(`/messages/${message}/references?view=graph`);
    await v.everyLook("the graph", v.page.getByRole("region", { name: /^Graph of references/ }));
    await v.end();
  });
});
