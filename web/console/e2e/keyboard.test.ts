// From signing in to an erased message and a chain that was checked again, without a pointer.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

// The second message of a session that is all of its thread's first, and goes on after it.
function sample(): { thread: string; session: string; hash: string; content: string } {
  const row = server.sql(`
    SELECT m.thread_hash, m.session_hash, m.hash, m.content FROM log.messages m
    WHERE m.sequence = 2 AND strpos(m.content, '|') + strpos(m.content, chr(10)) = 0
      AND EXISTS (SELECT FROM log.messages l WHERE l.prev_hash = m.hash AND l.thread_hash = m.thread_hash)
      AND NOT EXISTS (SELECT FROM log.messages o WHERE o.thread_hash = m.thread_hash AND o.created_at < m.created_at
        AND o.session_hash <> m.session_hash)
    ORDER BY m.id LIMIT 1`);
  const [thread = "", session = "", hash = "", content = ""] = row.split("|");
  return { thread, session, hash, content };
}

it("signs in, opens a thread and a message, checks its chain, erases it and checks again, by keys alone", async () => {
  const { thread, session, hash, content } = sample();
  const v = await Visit.begin(browser, server);
  const { keyboard } = v.page;
  const heading = (name: string) => v.page.getByRole("heading", { name }).waitFor();
  await v.go("/");
  await v.page.getByLabel("Token").waitFor();
  expect(await v.focused()).toBe("Token");
  await keyboard.insertText(server.token);
  await keyboard.press("Enter");
  await heading("Overview");
  await v.tabTo(/^Skip to the page$/);
  await keyboard.press("Enter");
  expect(await v.page.evaluate(() => document.activeElement?.id)).toBe("main");

  // A thread.
  await keyboard.type("gt");
  await v.page.getByRole("main").getByRole("listitem").first().waitFor();
  await v.tabTo(new RegExp(thread.slice(0, 8)));
  await keyboard.press("Enter");
  await v.page.getByRole("article").first().waitFor();

  // A message beside the conversation, and the next one; Esc gives the focus back to it.
  await v.tabTo(/^Open message 1 /);
  await keyboard.press("ArrowDown");
  await expect.poll(() => v.focused()).toMatch(/^Open message 2 /);
  await keyboard.press("Enter");
  await heading("Message #2");
  await keyboard.press("j");
  await heading("Message #3");
  await keyboard.press("Escape");
  await v.page.getByRole("complementary").waitFor({ state: "detached" });
  await expect.poll(() => v.focused()).toMatch(/^Open message 3 /);
  await keyboard.press("k");
  await expect.poll(() => v.focused()).toMatch(/^Open message 2 /);
  await keyboard.press("Enter");
  await heading("Message #2");

  // The chain of its session, checked by this browser.
  await v.tabTo(new RegExp(`^${session.slice(0, 8)}`));
  await keyboard.press("Enter");
  await v.page.waitForURL(new RegExp(`/sessions/${session}`));
  await v.page.getByRole("button", { name: "Verify", exact: true }).waitFor();
  await v.tabTo(/^Verify$/);
  await keyboard.press("Enter");
  const verification = v.page.getByRole("region", { name: "Verification" });
  const said = async () => (await verification.innerText()).replace(/\s+/g, " ");
  await v.page.getByRole("button", { name: "Verify again" }).waitFor();
  expect(await said()).toMatch(/Recomputed in this browser (\d+) of \1 no break/);

  // What erasing would touch is counted first; then the word and a reason.
  await v.tabTo(/^Open message 1 /);
  await keyboard.press("j");
  await keyboard.press("Enter");
  await heading("Message #2");
  await v.page.getByRole("button", { name: "Erase content…" }).waitFor();
  await v.tabTo(/^Erase content…$/);
  await keyboard.press("Enter");
  const dialog = v.page.getByRole("dialog", { name: "Erase the content of message #2?" });
  await dialog.getByText(`${Buffer.byteLength(content)} B`, { exact: true }).waitFor();
  expect(server.sql(`SELECT content IS NULL FROM log.messages WHERE hash = '${hash}'`)).toBe("f");
  expect(await v.focused()).toBe("To go on, type ERASE");
  await keyboard.type("ERASE");
  await v.tabTo(/^Reason, for the record/);
  await keyboard.type("Asked for by whom it is about.");
  await v.tabTo(/^Erase for good$/);
  await keyboard.press("Enter");

  // The receipt, with the chain checked again; and once more on the page.
  const receipt = v.page.getByRole("dialog", { name: "The content is erased" });
  await receipt.getByText("no break, 1 erased content by digest only").first().waitFor();
  const record = server.sql(
    `SELECT hash FROM log.messages WHERE event_type = 'erasure' AND attachments ->> 'erased' = '${hash}'`,
  );
  await receipt.getByText(record).waitFor();
  await keyboard.press("Escape");
  await receipt.waitFor({ state: "detached" });
  await v.page.getByRole("definition").getByText("Asked for by whom it is about.").waitFor();
  expect(server.sql(`SELECT content IS NULL FROM log.messages WHERE hash = '${hash}'`)).toBe("t");
  await keyboard.press("Escape");
  await v.page.getByRole("complementary").waitFor({ state: "detached" });
  await v.tabTo(/^Verify again$/);
  await keyboard.press("Enter");
  await expect.poll(said).toMatch(/Recomputed in this browser (\d+) of \1 no break, 1 erased content by digest only/);
  await expect.poll(() => v.page.getByText(content).count()).toBe(0);
  await v.end();
});
