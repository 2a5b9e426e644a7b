import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { narrow, wide } from "./looks";
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

// A thread of the sample whose messages have refs, and one of them.
function sample(): { thread: string; session: string; message: string; sequence: number; messages: number } {
  const row = server.sql(`
    SELECT m.thread_hash, m.session_hash, m.hash, m.sequence,
      (SELECT count(*) FROM log.messages n WHERE n.session_hash IN
        (SELECT o.session_hash FROM log.messages o WHERE o.thread_hash = m.thread_hash))
    FROM log.messages m
    WHERE m.sequence > 2 AND EXISTS (SELECT FROM log.messages l WHERE l.prev_hash = m.hash) AND EXISTS (SELECT FROM log.message_refs r WHERE r.message_hash = m.hash)
    ORDER BY m.id LIMIT 1`);
  const [thread = "", session = "", message = "", sequence, messages] = row.split("|");
  return { thread, session, message, sequence: Number(sequence), messages: Number(messages) };
}

describe("signing in", () => {
  it("asks for the token, refuses a wrong one, and keeps whoever has the right one", async () => {
    const v = await visit();
    await v.go("/threads");
    await v.page.getByLabel("Token").fill("wrong");
    await v.page.getByRole("button", { name: "Sign in" }).click();
    await v.page.getByRole("alert").waitFor();
    await v.page.getByLabel("Token").fill(server.token);
    await v.page.getByRole("button", { name: "Sign in" }).click();
    await v.page.getByRole("heading", { name: "Threads" }).waitFor();
    await v.page.reload();
    await v.page.getByRole("heading", { name: "Threads" }).waitFor();
    await v.page.getByRole("button", { name: "Sign out" }).click();
    await v.page.getByRole("heading", { name: "Sign in" }).waitFor();
    await v.page.reload();
    await v.page.getByRole("heading", { name: "Sign in" }).waitFor();
    await v.end(/status of 401/);
  });

  it("takes the token from the server's first address, and out of it", async () => {
    const v = await visit();
    await v.signIn();
    await v.page.waitForURL(`${server.base}/overview`);
    expect(await v.page.evaluate(() => [localStorage.length, JSON.stringify(localStorage), document.cookie])).toEqual([
      1,
      '{"signed-in":"1"}',
      "",
    ]);
    await v.end();
  });
});

describe("threads", () => {
  it("lists them, opens one, and shows a message with everything beside it", async () => {
    const { thread, message, sequence } = sample();
    const v = await visit();
    await v.signIn("/threads");
    const threads = v.page.getByRole("region", { name: "threads" }).getByRole("listitem");
    await threads.first().waitFor();
    await expect
      .poll(() => threads.count())
      .toBe(Number(server.sql("SELECT count(DISTINCT thread_hash) FROM log.messages")));
    await threads.locator(`a[href="/threads/${thread}"]`).click();
    await v.page.getByRole("article").first().waitFor();

    await v.go(`/threads/${thread}?message=${message}`);
    const panel = v.page.getByRole("complementary", { name: "Message" });
    await panel.getByText("Recomputed in this browser: hash and fields").waitFor();
    await panel.getByRole("heading", { name: `Message #${sequence}` }).waitFor();
    await panel.getByText(message, { exact: true }).waitFor();
    await panel.getByRole("heading", { name: /Sent with [1-9]/ }).waitFor();
    await v.page.keyboard.press("Escape");
    await v.end();
  });

  it("says that a link leads nowhere, rather than showing nothing", async () => {
    const v = await visit();
    await v.signIn(`/threads/${"0".repeat(64)}`);
    await v.page.getByText("No message belongs to this thread").waitFor();
    await v.go(`/messages/${"0".repeat(64)}`);
    await v.page.getByText("No message has this hash").waitFor();
    await v.end();
  });

  it("shows a failed request as a failure, never as an empty list", async () => {
    const v = await visit();
    await v.signIn("/threads");
    await v.page.getByRole("region", { name: "threads" }).waitFor();
    await v.page.route("**/graphql", (route) => route.fulfill({ status: 503, body: "no" }));
    await v.page.reload();
    await v.page.getByRole("button", { name: "Try again" }).waitFor();
    await expect.poll(() => v.page.getByText("No threads yet").count()).toBe(0);
    await v.page.unroute("**/graphql");
    await v.page.getByRole("button", { name: "Try again" }).click();
    await v.page.getByRole("region", { name: "threads" }).waitFor();
    await v.end(/status of 503/);
  });
});

describe("the chain", () => {
  it("is recomputed in the browser, and checked by the server, each in its own words", async () => {
    const { thread, messages } = sample();
    const v = await visit();
    await v.signIn(`/threads/${thread}`);
    await v.page.getByText("Not checked yet").waitFor();
    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    await v.page.getByRole("button", { name: "Verify again" }).waitFor();
    const chain = v.page.getByRole("region", { name: "Verification" });
    const said = (await chain.innerText()).replace(/\s+/g, " ");
    expect(said).toContain(`Recomputed in this browser ${messages} of ${messages} no break`);
    expect(said).toMatch(new RegExp(`Proved in this browser ${messages} of ${messages} checkpoint of \\d+ messages, `));
    expect(said).toContain(`Server says ${messages} of ${messages} no break`);
    const row = v.page.getByRole("article").first();
    await expect.poll(() => row.getByText("verified", { exact: true }).count()).toBe(1);
    await v.end();
  });
});

describe("components, records and the playground", () => {
  it("finds components by kind and name", async () => {
    const v = await visit();
    await v.signIn("/components");
    await v.page.getByText("Flags", { exact: true }).click();
    await v.page.getByRole("searchbox").fill("gdpr");
    await v.page.waitForURL(/q=gdpr/);
    await v.page.getByRole("listitem").filter({ hasText: /gdpr/i }).first().waitFor();
    await v.page.getByRole("searchbox").fill("no such thing at all");
    await v.page.getByText("Nothing matches").waitFor();
    await v.end();
  });

  it("opens a record beside the list", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.getByRole("listitem").getByRole("button").first().click();
    await v.page.getByRole("complementary", { name: "Record" }).getByRole("heading", { level: 3 }).waitFor();
    await v.page.keyboard.press("Escape");
    await v.page.getByRole("complementary", { name: "Record" }).waitFor({ state: "detached" });
    await v.end();
  });

  it("runs a query in the playground, from this server alone", async () => {
    const v = await visit();
    await v.signIn("/threads");
    await v.go("/playground");
    await v.page.locator(".view-line", { hasText: "threads" }).first().waitFor();
    await v.page.getByRole("button", { name: /Execute query/ }).click();
    await v.page.locator(".graphiql-response", { hasText: "messageCount" }).waitFor();
    await v.end();
  });
});

describe("axe finds nothing", () => {
  it("on any page", async () => {
    const { thread, message } = sample();
    const v = await visit();
    const heading = (name: string) => v.page.getByRole("heading", { name });
    await v.go("/");
    await v.everyLook("sign in", heading("Sign in"));
    await v.signIn("/threads");
    await v.everyLook("threads", v.page.getByRole("main").getByRole("listitem"));
    await v.go(`/threads/${thread}`);
    await v.everyLook("a thread", v.page.getByRole("article"));
    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    await v.everyLook("a thread that was checked", v.page.getByRole("button", { name: "Verify again" }));
    await v.go(`/threads/${thread}?message=${message}`);
    await v.everyLook("a message", heading("Fields"));
    await v.go("/components");
    await v.everyLook("components", v.page.getByRole("main").getByRole("listitem"));
    await v.go("/records");
    await v.page.getByRole("listitem").getByRole("button").first().click();
    await v.everyLook("records", v.page.getByRole("heading", { level: 3 }));
    await v.go("/seal");
    await v.page.getByText("its signature holds").waitFor();
    await v.page.getByRole("button", { name: "Check the whole log" }).click();
    await v.everyLook("the seal", v.page.getByText("no break, the server says"));
    await v.go("/playground");
    await v.page.getByRole("button", { name: /Execute query/ }).waitFor();
    await v.everyLook("the playground", v.page.locator(".view-line", { hasText: "threads" }));
    await v.end();
  });

  it("on a question and its answer", async () => {
    const v = await visit();
    await v.signIn("/context?q=hotel&threshold=0");
    await v.everyLook("the question", v.page.getByRole("heading", { name: "Nothing asked yet" }));
    const options = v.page.getByRole("listbox", { name: "Players" }).getByRole("option");
    for (const these of [wide, narrow]) {
      await v.seen(these[0]); // which closes lists
      const players = v.page.getByRole("combobox", { name: "Players" });
      if (!(await players.isVisible())) await v.page.getByText("Where to look").click();
      await players.click();
      await v.everyLook("the question, with a list open", options, these);
      await v.page.keyboard.press("Escape");
    }
    await v.seen(wide[0]);
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    const receipt = v.page.getByRole("heading", { name: "Receipt" });
    await receipt.waitFor();
    await v.page.locator("details").evaluateAll((all) => all.map((d) => d.setAttribute("open", "")));
    await v.everyLook("the answer", receipt);
    await v.end();
  });
});

// Last: from here on the log is not what it was.
describe("tampering as the database's superuser", () => {
  it("shows the very message whose content was changed, found by the browser and by the server", async () => {
    const { thread, message, sequence } = sample();
    server.sql(`ALTER TABLE log.messages DISABLE TRIGGER ALL;
      UPDATE log.messages SET content = content || ' (tampered)' WHERE hash = '${message}';
      ALTER TABLE log.messages ENABLE TRIGGER ALL`); // what administrators read is written into the log
    const v = await visit();
    await v.signIn(`/threads/${thread}`);
    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    await v.page.getByRole("button", { name: "Verify again" }).waitFor();
    const chain = v.page.getByRole("region", { name: "Verification" });
    const said = (await chain.innerText()).replace(/\s+/g, " ");
    expect(said).toMatch(/Recomputed in this browser \d+ of \d+ 1 break/);
    expect(said).toMatch(/Server says \d+ of \d+ 1 break/);
    expect(said).toContain(`Content mismatch at #${sequence} ${message.slice(0, 8)}`);
    await chain.getByRole("button", { name: "Show" }).first().click();
    const row = v.page.getByRole("article").filter({ hasText: "(tampered)" });
    await row.getByText("MISMATCH", { exact: true }).first().waitFor();
    await row.getByText("This browser:").waitFor();
    await row.getByText("The server:").waitFor();
    await expect.poll(() => v.page.getByText("MISMATCH", { exact: true }).filter({ visible: true }).count()).toBe(1);
    await v.accessible("a thread with a break");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("MISMATCH, computed in this browser").waitFor();
    await v.end();
  });

  it("shows where a message was taken out", async () => {
    const { thread, session, message, sequence } = sample();
    server.sql(`ALTER TABLE log.messages DISABLE TRIGGER ALL; ALTER TABLE log.message_refs DISABLE TRIGGER ALL;
      DELETE FROM log.message_refs WHERE message_hash = '${message}' OR ref_hash = '${message}';
      DELETE FROM log.messages WHERE hash = '${message}';
      ALTER TABLE log.messages ENABLE TRIGGER ALL; ALTER TABLE log.message_refs ENABLE TRIGGER ALL`);
    const v = await visit();
    await v.signIn(`/sessions/${session}`);
    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    await v.page.getByRole("button", { name: "Verify again" }).waitFor();
    const said = (await v.page.getByRole("region", { name: "Verification" }).innerText()).replace(/\s+/g, " ");
    expect(said).toContain(`Gap at #${sequence + 1}`);
    expect(said).toContain(`Number ${sequence} is missing before it.`);
    expect(thread).not.toBe("");
    await v.end();
  });
});
