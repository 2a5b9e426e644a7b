// What is heard and not only seen: where the focus is, what is spoken, and in which language.
import { createHash } from "node:crypto";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Visit } from "./browser";
import type { Server } from "./server";
import { many, startThreads } from "./threadlist";

const hash = (of: string) => createHash("sha256").update(of).digest("hex");
const session = hash("a session that is listened to");
const length = 150; // three blocks of rows

let server: Server;
let browser: Browser;
let owner: string;

beforeAll(async () => {
  ({ server, browser } = await startThreads());
  owner = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1");
  const m = Array.from({ length }, (_, i) => ({ sessionHash: session, ownerId: owner, content: `Number ${i + 1}.` }));
  await server.ask("mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", { m });
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const verification = (v: Visit) => v.page.getByRole("region", { name: "Verification" });
const article = (v: Visit, n: number) => v.page.getByRole("article", { name: `Message ${n}`, exact: true });

// Has each request of an operation refused from now on.
async function refuse(v: Visit, operation: string, message: string): Promise<void> {
  await v.page.route("**/graphql", async (route) => {
    const asked = route.request().postDataJSON() as { operationName?: string } | null;
    if (asked?.operationName !== operation) return await route.fallback();
    await route.fulfill({ json: { data: null, errors: [{ message, extensions: { code: "UNAVAILABLE" } }] } });
  });
}

describe("a check", () => {
  it("is heard as it begins and as it ends, not at each step", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).waitFor();
    await v.page.evaluate(() => {
      const heard: string[] = [];
      const last = new Map<Element, string>();
      Object.assign(globalThis, { heard });
      new MutationObserver(() => {
        for (const live of document.querySelectorAll("[aria-label=Verification] :is([aria-live], [role=status])")) {
          const text = live.textContent ?? "";
          if (last.get(live) !== text && !live.closest("button")) heard.push(text);
          last.set(live, text);
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    await verification(v).getByText("The script that checked this").waitFor();
    const heard = await v.page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
    expect(heard).toEqual([
      "checking…",
      expect.stringMatching(
        /^Recomputed in this browser: no break\. Proved in this browser: .+\. Server says: no break\.$/,
      ),
    ]);
    await v.end();
  });
});

describe("the page of one message", () => {
  it("has the focus on the message, also on the next one", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).getByRole("button").click();
    await v.page.getByRole("heading", { name: "Message #1", exact: true }).waitFor();
    const on = () => v.page.evaluate(() => document.activeElement?.closest("[data-panel]")?.textContent ?? "");
    await v.page.keyboard.press("Enter");
    await v.page.getByRole("link", { name: "Back to the conversation" }).waitFor();
    await expect.poll(on).toMatch(/Number 1\./);
    for (const n of [2, 3]) {
      await v.page.keyboard.press("j");
      await expect.poll(on).toMatch(new RegExp(`Number ${n}\\.`));
    }
    await v.end();
  });
});

describe("what the server says of itself on a page in Spanish", () => {
  const message = "the server is elsewhere with its thoughts";
  const visit = () => Visit.begin(browser, server, { locale: "es-ES" });
  const said = async (v: Visit) => {
    const words = v.page.locator('[lang="en"]').getByText(message, { exact: true });
    await words.first().waitFor();
    expect(await v.page.locator("body").innerText()).not.toContain("[GraphQL]");
  };

  it("is marked as English in place of a list, and below one", async () => {
    const v = await visit();
    await v.signIn("/overview");
    await refuse(v, "Threads", message);
    await v.go("/threads");
    await said(v);
    await v.page.unrouteAll();
    await v.go("/threads?channel=many-e2e");
    const row = v.page.getByRole("main").getByRole("listitem");
    await row.first().waitFor();
    expect(await row.count()).toBeLessThan(many);
    await refuse(v, "Threads", message);
    await expect
      .poll(async () => {
        await row.last().scrollIntoViewIfNeeded();
        return await v.page.getByRole("alert").count();
      })
      .toBe(1);
    await said(v);
    await v.end();
  });

  it("is marked as English in place of a conversation's rows", async () => {
    const v = await visit();
    await v.signIn(`/sessions/${session}`);
    await v.page.getByRole("article").first().waitFor();
    await refuse(v, "Range", message);
    await v.page.keyboard.press("e");
    await said(v);
    await v.end();
  });

  it("is marked as English where something is confirmed", async () => {
    await server.makeToken({ kind: "AGENT", player: owner, scopes: ["log:read"] });
    const v = await visit();
    await v.signIn("/tokens");
    await refuse(v, "RevokeToken", message);
    await v.page
      .getByRole("button", { name: v.say("tokens.row.revoke") })
      .first()
      .click();
    await v.page.getByRole("button", { name: v.say("tokens.revoke.confirm") }).click();
    await said(v);
    await v.end();
  });
});

// Last: from here on the log is not what it was.
it("says of a break that it could not be found, while the server does not answer", async () => {
  server.sql(`BEGIN; ALTER TABLE log.messages DISABLE TRIGGER ALL;
    UPDATE log.messages SET content = 'altered' WHERE session_hash = '${session}' AND sequence = 120;
    ALTER TABLE log.messages ENABLE TRIGGER ALL; COMMIT`);
  const v = await Visit.begin(browser, server);
  await v.signIn(`/sessions/${session}`);
  await article(v, 1).waitFor();
  await v.page.getByRole("button", { name: "Verify", exact: true }).click();
  await verification(v).getByText("The script that checked this").waitFor();
  const show = verification(v).getByRole("button", { name: "Show" }).first();
  await v.page.route("**/graphql", (route) => route.abort());
  await show.click();
  const alert = v.page.getByRole("alert").filter({ hasText: "It could not be found:" });
  await alert.waitFor();
  await v.page.unrouteAll();
  await show.click();
  await article(v, 120).waitFor();
  await alert.waitFor({ state: "detached" });
  await v.end(/ERR_FAILED/);
});
