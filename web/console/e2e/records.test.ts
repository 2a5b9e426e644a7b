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

// A record that messages were sent with.
function cited(): { hash: string; title: string; book: string; messages: number } {
  const row = server.sql(`SELECT k.hash, k.title, k.book, count(*) FROM knowledge.records k
    JOIN log.message_refs r ON r.ref_hash = k.hash GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1 LIMIT 1`);
  const [hash = "", title = "", book = "", messages] = row.split("|");
  return { hash, title, book, messages: Number(messages) };
}

describe("records", () => {
  it("have an address of their own, with the messages that were sent with them", async () => {
    const { hash, title, messages } = cited();
    expect(messages).toBeGreaterThan(0);
    const v = await visit();
    await v.signIn(`/records?record=${hash}`);
    await v.page.getByRole("link", { name: /Open it full/ }).click();
    await v.page.waitForURL(`${server.base}/records/${hash}`);
    await v.page.getByRole("heading", { name: title, level: 1 }).waitFor();
    const table = v.page.getByRole("table", { name: /sent with it/ });
    await table.waitFor();
    await expect.poll(() => table.locator("tbody tr").count()).toBe(Math.min(50, messages));
    await v.end();
  });

  it("tell which selections held them", async () => {
    const { hash, title } = cited();
    await server.ask("mutation ($i: ContextRequestInput!) { requestContext(input: $i) { id } }", {
      i: { query: title, threshold: 0, limit: 50, scope: { types: ["ACCOUNTANT", "SECRETARY"] } },
    });
    const v = await visit();
    await v.signIn(`/records/${hash}`);
    const table = v.page.getByRole("table", { name: /held it/ });
    await table.waitFor();
    await table.locator("tbody a").first().click();
    await v.page.waitForURL(/\/selections\//);
    await v.end();
  });

  it("narrow by book, and tell when nothing is left", async () => {
    const { book } = cited();
    const v = await visit();
    await v.signIn("/records");
    await v.page.getByRole("listitem").first().waitFor();
    await v.page.getByLabel("Only this book").fill(book);
    await v.page.waitForURL(/book=/);
    const n = server.sql(`SELECT count(*) FROM knowledge.records WHERE book = '${book.replaceAll("'", "''")}'`);
    await v.page.getByText(`${Number(n)}, latest first`).waitFor();
    await v.page.getByLabel("Only this book").fill("no such book");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("Nothing matches").waitFor();
    await v.page.getByRole("button", { name: "Show all" }).click();
    await v.page.getByRole("listitem").first().waitFor();
    await v.end();
  });

  it("are added by keyboard, and refused by field", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.getByRole("listitem").first().waitFor();
    await v.page.keyboard.press("n");
    const form = v.page.getByRole("complementary", { name: "Add a record" });
    await form.getByLabel("Book", { exact: true }).fill("b".repeat(257));
    await form.getByRole("button", { name: "Add it" }).press("Enter");
    await form.getByText("It has 257 bytes; at most 256 are allowed.").waitFor();
    await form.getByText("Write something.").first().waitFor();
    await form.getByLabel("Book", { exact: true }).fill("timetables");
    await form.getByLabel("Title", { exact: true }).fill("Night train to Lisbon");
    await form.getByLabel("Text", { exact: true }).fill("Leaves at ten <b>sharp</b>.");
    await form.getByRole("button", { name: "Add it" }).press("Enter");
    const panel = v.page.getByRole("complementary", { name: "Record" });
    await panel.getByRole("heading", { name: "Night train to Lisbon" }).waitFor();
    await panel.getByText("Leaves at ten <b>sharp</b>.").waitFor(); // as text, never as HTML
    const hash = new URL(v.page.url()).searchParams.get("record");
    expect(server.sql(`SELECT book FROM knowledge.records WHERE hash = '${hash}'`)).toBe("timetables");
    await v.go(`/records/${hash}`);
    await v.page.getByText("No selection that you may see held it.").waitFor();
    await v.page.getByText("No message that you may see was sent with it.").waitFor();
    await v.end();
  });

  it("say what is not there, failed, and not permitted", async () => {
    const v = await visit();
    await v.signIn(`/records/${"0".repeat(64)}`);
    await v.page.getByText("No record has this hash").waitFor();
    await v.page.route("**/graphql", (route) => route.fulfill({ status: 503, body: "no" }));
    await v.go(`/records/${cited().hash}`);
    await v.page.getByRole("button", { name: "Try again" }).waitFor();
    await v.end(/status of 503/);

    const owner = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1");
    const { secret } = await server.makeToken({ kind: "AGENT", player: owner, scopes: ["log:read"] });
    const other = await visit();
    await other.signIn("/records?new", secret);
    await other.page.getByText("You may not add records").waitFor();
    await other.go(`/records/${cited().hash}`);
    await other.page.getByText("Which selections held it is not open to you").waitFor();
    await other.end();
  });

  it("have no finding of axe", async () => {
    const v = await visit();
    await v.signIn(`/records/${cited().hash}`);
    await v.everyLook("a record", v.page.getByRole("table", { name: /sent with it/ }));
    await v.go("/records?new");
    await v.everyLook("the form of a record", v.page.getByLabel("Title", { exact: true }));
    await v.end();
  });
});
