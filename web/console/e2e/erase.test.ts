import type { Browser, Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { forge } from "./forge";
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

type Target = { thread: string; session: string; hash: string; sequence: number; content: string };

// The n-th message that can be erased and whose words are long enough to be searched for.
function target(n: number): Target {
  const row = server.sql(`
    SELECT m.thread_hash, m.session_hash, m.hash, m.sequence, m.content FROM log.messages m
    WHERE m.sequence BETWEEN 2 AND 6 AND m.event_type = 'message' AND length(m.content) BETWEEN 60 AND 200
      AND strpos(m.content, '|') + strpos(m.content, chr(10)) = 0
    ORDER BY m.id OFFSET ${n} LIMIT 1`);
  const [thread = "", session = "", hash = "", sequence, content = ""] = row.split("|");
  return { thread, session, hash, sequence: Number(sequence), content };
}

async function openDialog(v: Visit, m: Target): Promise<Locator> {
  await v.page.getByRole("heading", { name: `Message #${m.sequence}` }).waitFor();
  await v.page.getByRole("button", { name: "Erase content…" }).click();
  const dialog = v.page.getByRole("dialog", { name: `Erase the content of message #${m.sequence}?` });
  await dialog.waitFor();
  return dialog;
}

// Types the word, gives a reason and erases; then waits until the record is shown and the chain checked again, and leaves.
async function eraseFor(v: Visit, dialog: Locator, reason: string): Promise<void> {
  await dialog.getByLabel("To go on, type ERASE").fill("erase");
  await dialog.getByLabel("Reason, for the record").fill(reason);
  await dialog.getByRole("button", { name: "Erase for good" }).click();
  const receipt = v.page.getByRole("dialog", { name: "The content is erased" });
  await receipt
    .getByText(/no break, \d erased contents? by digest only/)
    .first()
    .waitFor();
  await receipt.getByRole("button", { name: "Close" }).click();
  await receipt.waitFor({ state: "detached" });
}

// Keeps back the answers to some operations, until it is released.
async function hold(v: Visit, operations: string[]): Promise<() => void> {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  await v.page.route("**/graphql", async (route) => {
    const asked = route.request().postDataJSON() as { operationName?: string } | null;
    if (operations.includes(asked?.operationName ?? "")) await opened;
    await route.fallback();
  });
  return open;
}

describe("erasing a content", () => {
  it("says what goes and what stays, takes a reason, and leaves a record and a log that verifies", async () => {
    const m = target(0);
    const v = await visit();
    await v.signIn(`/sessions/${m.session}?message=${m.hash}`);
    const dialog = await openDialog(v, m);
    await expect
      .poll(() => dialog.innerText())
      .toMatch(/What goes, for good:[\s\S]*What stays:[\s\S]*Backups, exports/);
    const confirm = dialog.getByRole("button", { name: "Erase for good" });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel("Reason, for the record").fill("é".repeat(513));
    await dialog.getByText("1,026 now: too many").waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel("Reason, for the record").fill("Mina asked for it.");
    expect(await confirm.isDisabled()).toBe(true); // the word is not typed
    await v.accessible("the dialog");
    const size = server.sql(`SELECT octet_length(content) FROM log.messages WHERE hash = '${m.hash}'`);
    await dialog.getByText(`${size} B`).first().waitFor();
    await dialog.getByLabel("To go on, type ERASE").fill("ERASE");
    await confirm.click();
    const receipt = v.page.getByRole("dialog", { name: "The content is erased" });
    await receipt.getByText("no break, 1 erased content by digest only").first().waitFor();
    const record = server.sql(
      `SELECT hash FROM log.messages WHERE event_type = 'erasure' AND attachments ->> 'erased' = '${m.hash}'`,
    );
    await receipt.getByText(record).waitFor();
    await v.accessible("the receipt");
    await receipt.getByRole("button", { name: "Close" }).click();
    await receipt.waitFor({ state: "detached" });

    const panel = v.page.getByRole("complementary", { name: "Message" });
    await panel.getByRole("definition").getByText("Mina asked for it.").waitFor();
    await panel.getByText("Content erased, on the record").waitFor();
    await expect.poll(() => panel.getByRole("button", { name: "Erase content…" }).count()).toBe(0);
    await expect.poll(() => v.page.getByText(m.content).count()).toBe(0);
    expect(server.sql(`SELECT content IS NULL AND salt IS NULL FROM log.messages WHERE hash = '${m.hash}'`)).toBe("t");
    const row = v.page.getByRole("article", { name: `Message ${m.sequence}`, exact: true });
    await row.getByText("content erased, says the server", { exact: true }).first().waitFor();
    await row.getByText("content gone; the server says that it was erased").waitFor();
    await v.accessible("an erased message");

    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    const section = v.page.getByRole("region", { name: "Verification" });
    await section.getByText("The script that checked this").waitFor();
    expect((await section.innerText()).replace(/\s+/g, " ")).toContain("no break, 1 erased content by digest only");
    await row.getByText("verified", { exact: true }).waitFor();
    await row.getByText("content erased", { exact: true }).first().waitFor();
    expect(await row.innerText()).not.toMatch(/says/); // from here on it is this browser that does
    await v.end();
  });

  it("leads from the message to who erased it, when and why", async () => {
    const m = target(1);
    const reason = "Es war ein Versehen 🧭";
    const v = await visit();
    await v.signIn(`/threads/${m.thread}?message=${m.hash}`);
    const dialog = await openDialog(v, m);
    await eraseFor(v, dialog, reason);
    const row = v.page.getByRole("article", { name: `Message ${m.sequence}`, exact: true });
    await row.getByRole("link", { name: "who, when and why" }).click();
    const record = server.sql(
      `SELECT hash FROM log.messages WHERE event_type = 'erasure' AND attachments ->> 'erased' = '${m.hash}'`,
    );
    await v.page.waitForURL(new RegExp(`message=\\d+\\.${record.slice(0, 12)}`));
    const panel = v.page.getByRole("complementary", { name: "Message" });
    await panel.getByText(reason).waitFor();
    await panel.getByText("erasure", { exact: true }).waitFor();
    await expect.poll(() => panel.getByRole("button", { name: "Erase content…" }).count()).toBe(0);
    await v.end();
  });

  it("leaves nothing of it behind the receipt, in the list neither, before any answer has come", async () => {
    const m = target(0);
    const v = await visit();
    await v.signIn(`/threads/${m.thread}?message=${m.hash}`);
    const dialog = await openDialog(v, m);
    await v.page.getByText(m.content).first().waitFor();
    const release = await hold(v, ["Message", "Range"]);
    await dialog.getByLabel("To go on, type ERASE").fill("erase");
    await dialog.getByLabel("Reason, for the record").fill("At once.");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    const receipt = v.page.getByRole("dialog", { name: "The content is erased" });
    await receipt.waitFor();
    await expect.poll(() => v.page.getByText(m.content).count()).toBe(0);
    const gone = "content gone; the server says that it was erased";
    await v.page
      .getByRole("article", { name: `Message ${m.sequence}`, exact: true })
      .getByText(gone)
      .waitFor();
    await v.page.getByRole("complementary", { name: "Message" }).getByText(gone).waitFor();
    release();
    await v.page.getByRole("complementary").getByText("Content erased, on the record").waitFor();
    await v.end();
  });

  it("leaves nothing of it on a page of its own, to which one comes back", async () => {
    const m = target(0);
    const v = await visit();
    await v.signIn(`/sessions/${m.session}/${m.hash}`);
    const heading = (by: number) => v.page.getByRole("heading", { name: `Message #${m.sequence + by}`, exact: true });
    const walk = async (key: string, by: number) => {
      await v.page.keyboard.press(key);
      await heading(by).waitFor();
      await v.page.getByRole("heading", { name: "Integrity" }).waitFor();
    };
    await heading(0).waitFor();
    await walk("j", 1);
    await walk("k", 0);
    await v.page.getByText(m.content).first().waitFor();
    const dialog = await openDialog(v, m);
    await eraseFor(v, dialog, "Nowhere.");
    await v.page.getByText("Content erased, on the record").waitFor();
    await walk("j", 1);
    const release = await hold(v, ["Message", "Range"]);
    await v.page.keyboard.press("k");
    await heading(0).waitFor();
    // The whole page, so that a failure says what was there instead.
    const shown = () => v.page.getByRole("main").innerText();
    await expect.poll(shown).toMatch(/content (gone; the server says that it was )?erased/);
    expect(await shown()).not.toContain(m.content);
    release();
    await v.page.getByText("Content erased, on the record").waitFor();
    await v.end();
  });

  it("by somebody else shows at once in a conversation that is followed, and is checked there", async () => {
    const m = target(0);
    const v = await visit();
    await v.signIn(`/threads/${m.thread}?message=${m.hash}`);
    const row = v.page.getByRole("article", { name: `Message ${m.sequence}`, exact: true });
    const panel = v.page.getByRole("complementary", { name: "Message" });
    await panel.getByText("Recomputed in this browser").waitFor();
    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    await v.page.getByRole("region", { name: "Verification" }).getByText("The script that checked this").waitFor();
    await row.getByText("verified", { exact: true }).waitFor();
    const erase = 'mutation ($m: Hash!) { eraseMessage(hash: $m, reason: "Elsewhere.") { hash } }';
    await server.ask(erase, { m: m.hash });
    await expect.poll(() => v.page.getByText(m.content).count()).toBe(0);
    await panel.getByText("Content erased, on the record").waitFor();
    await row.getByText("verified", { exact: true }).waitFor();
    await row.getByText("content erased", { exact: true }).first().waitFor();
    await v.end();
  });

  it("shows in a selection that was made before", async () => {
    const m = target(0);
    const v = await visit();
    await v.signIn(`/context?thread=${m.thread}&threshold=0&limit=50`);
    await v.page.getByLabel("What is the context for?").fill(m.content);
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    await v.page.getByRole("heading", { name: "Receipt" }).waitFor();
    const item = v.page.locator("li", { has: v.page.locator(`a[href="/messages/${m.hash}"]`) }).first();
    await item.getByText(m.content.slice(-20)).waitFor();
    const selection = v.page.url();
    await v.go(`/messages/${m.hash}`);
    const dialog = await openDialog(v, m);
    await eraseFor(v, dialog, "Not for selections either.");
    await v.page.getByRole("definition").getByText("Not for selections either.").waitFor();
    await v.page.goto(selection);
    await item.getByText("content gone; the server says that it was erased").waitFor();
    await item.getByRole("link", { name: "who, when and why" }).waitFor();
    await expect.poll(() => item.getByText(m.content.slice(-20)).count()).toBe(0);
    expect(await v.page.locator("pre").innerText()).not.toContain(m.content); // the block for a prompt
    await v.accessible("a selection with an erased message");
    await v.end();
  });

  it("is left without doing it by Esc, and done by keyboard alone", async () => {
    const m = target(2);
    const v = await visit();
    await v.signIn(`/threads/${m.thread}?message=${m.hash}`);
    await v.page.getByRole("heading", { name: `Message #${m.sequence}` }).waitFor();
    await v.page.getByRole("button", { name: "Erase content…" }).focus();
    await v.page.keyboard.press("Enter");
    const dialog = v.page.getByRole("dialog");
    await dialog.waitFor();
    await dialog.getByText("Text", { exact: true }).waitFor(); // counted
    await v.page.keyboard.type("jk");
    expect(await dialog.getByRole("textbox").first().inputValue()).toBe("jk");
    await v.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await v.page.getByRole("heading", { name: `Message #${m.sequence}` }).waitFor(); // the message stays open
    expect(server.sql(`SELECT content IS NULL FROM log.messages WHERE hash = '${m.hash}'`)).toBe("f");
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.textContent)).toBe("Erase content…");
    await v.page.keyboard.press("Enter");
    await dialog.waitFor();
    await dialog.getByText("Text", { exact: true }).waitFor();
    await v.page.keyboard.type("ERASE");
    await v.page.keyboard.press("Tab");
    await v.page.keyboard.type("By keyboard.");
    await v.page.keyboard.press("Tab");
    await v.page.keyboard.press("Tab");
    await v.page.keyboard.press("Enter");
    const receipt = v.page.getByRole("dialog", { name: "The content is erased" });
    await receipt
      .getByText(/by digest only/)
      .first()
      .waitFor();
    await v.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await v.page.getByRole("definition").getByText("By keyboard.").waitFor();
    await v.end();
  });

  it("that the server refuses is said in the dialog, with its words", async () => {
    const m = target(3);
    const v = await visit();
    await v.signIn(`/threads/${m.thread}?message=${m.hash}`);
    const dialog = await openDialog(v, m);
    await dialog.getByLabel("To go on, type ERASE").fill("ERASE");
    server.sql(`SELECT log.erase(hash, owner_id, 'somebody was faster') FROM log.messages WHERE hash = '${m.hash}'`);
    await dialog.getByLabel("Reason, for the record").fill("Too late.");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    await v.page.getByRole("complementary").getByText("Content erased, on the record").waitFor(); // behind the dialog
    await dialog.getByRole("alert").getByText("CONFLICT").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await v.end();
  });
});

// Last: from here on the log is not what it was.
it("a content that is gone without an erasure on record is a break, and not called erased", async () => {
  const m = target(0);
  server.sql(`ALTER TABLE log.messages DISABLE TRIGGER ALL;
    UPDATE log.messages SET content = NULL, attachments = NULL, ambient = NULL, salt = NULL WHERE hash = '${m.hash}'`);
  const v = await visit();
  await v.signIn(`/sessions/${m.session}`);
  const row = v.page.getByRole("article", { name: `Message ${m.sequence}`, exact: true });
  await row.getByText("content gone, without an erasure on record").waitFor();
  await v.page.getByRole("button", { name: "Verify", exact: true }).click();
  const section = v.page.getByRole("region", { name: "Verification" });
  await section.getByText("The script that checked this").waitFor();
  const said = (await section.innerText()).replace(/\s+/g, " ");
  expect(said).toContain(`Content mismatch at #${m.sequence}`);
  expect(said).toContain("gone without an erasure on record");
  await row.getByText("MISMATCH", { exact: true }).first().waitFor();
  await v.end();
});

it("a server that calls it erased is not believed without an erasure that says so", async () => {
  const row = server.sql(`SELECT session_hash, hash, sequence FROM log.messages m WHERE content IS NULL AND NOT EXISTS (
      SELECT FROM log.message_refs r JOIN log.messages e ON e.hash = r.message_hash AND e.event_type = 'erasure'
      WHERE r.ref_hash = m.hash) LIMIT 1`);
  const [session = "", hash = "", n = ""] = row.split("|");
  const v = await visit();
  let erasure: object | null = null; // of another message, once there is one to show
  type Whole = { message: { hash: string; integrity: object; recorded: { erasure: object | null } } };
  await forge<Whole>(v, "Message", ({ message: m }) => {
    if (m.hash !== hash) erasure = m;
    else Object.assign(m, { integrity: { ...m.integrity, state: "ERASED" }, recorded: { erasure } });
  });
  type Rows = { session?: { range: { messages: { hash: string; integrity: object }[] } } };
  const lie = ({ session }: Rows) => {
    for (const m of session?.range.messages ?? [])
      if (m.hash === hash) Object.assign(m.integrity, { state: "ERASED", erasure: { hash: "a".repeat(64) } });
  };
  await forge<Rows>(v, "Range", lie);
  await forge<Rows>(v, "VerifyRows", lie);
  const record = server.sql("SELECT hash FROM log.messages WHERE event_type = 'erasure' LIMIT 1");
  await v.signIn(`/messages/${record}`);
  const panel = v.page.getByRole("complementary", { name: "Message" });
  await panel.getByText("Recomputed in this browser: hash").waitFor();
  await v.go(`/sessions/${session}?message=${hash}`);
  await panel.getByText("Content gone: no erasure on record holds here").waitFor();
  await panel.getByText("what the server gives as its erasure does not say so").waitFor();
  expect(await panel.getByText("Erased by").count()).toBe(0);
  const shown = v.page.getByRole("article", { name: `Message ${n}`, exact: true });
  await shown.getByText("content gone; the server says that it was erased").waitFor();
  expect(await shown.getByText("content erased", { exact: true }).count()).toBe(0);
  await v.page.getByRole("button", { name: "Verify", exact: true }).click();
  await shown.getByText("MISMATCH", { exact: true }).first().waitFor();
  await shown.getByText("content gone, without an erasure on record").waitFor();
  expect(await shown.getByText(/content erased|the server says that it was erased|who, when and why/).count()).toBe(0);
  await v.end();
});
