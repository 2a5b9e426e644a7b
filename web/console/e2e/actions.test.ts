// The registry of actions: the palette, the keys, the help sheet, and where they are not to count.
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
const palette = (v: Visit) => v.page.getByRole("dialog", { name: "Find or do something" });
const help = (v: Visit) => v.page.getByRole("dialog", { name: "Keyboard shortcuts" });
const active = (v: Visit) => palette(v).locator('[role="option"][aria-selected="true"]');
const path = (v: Visit) => new URL(v.page.url()).pathname;

async function open(v: Visit): Promise<void> {
  await v.page.keyboard.press("Control+k");
  await palette(v).waitFor();
}

describe("the palette", () => {
  it("goes to a page by the beginning of its words, by keyboard alone", async () => {
    const v = await visit();
    await v.signIn("/components");
    await open(v);
    await v.page.keyboard.type("rec");
    await expect.poll(() => active(v).innerText()).toContain("Go to records");
    await v.page.keyboard.press("Enter");
    await expect.poll(() => path(v)).toBe("/records");
    await palette(v).waitFor({ state: "detached" });
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.id)).toBe("main");

    await open(v); // what was used is offered first
    await expect.poll(() => active(v).innerText()).toContain("Go to records");
    await v.end();
  });

  it("is loaded before anybody asks for it, since whoever does types at once", async () => {
    const v = await visit();
    const loaded = v.page.waitForResponse(/\/assets\/Palette-.*\.js$/);
    await v.signIn("/threads");
    await loaded;
    await v.end();
  });

  it("gives the focus back to where it was", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.getByRole("radio", { name: "Secretary" }).focus();
    await open(v);
    expect(await v.focused()).toBe("Find or do something");
    await v.page.keyboard.press("Escape");
    await palette(v).waitFor({ state: "detached" });
    expect(await v.focused()).toContain("Secretary");
    await v.end();
  });

  it("does what the page offers, and nothing that another offers", async () => {
    const v = await visit();
    await v.signIn("/tokens");
    await open(v);
    await v.page.keyboard.type("new token");
    await expect.poll(() => active(v).innerText()).toContain("New token");
    await v.page.keyboard.press("Enter");
    await v.page.getByRole("complementary", { name: "New token" }).waitFor();
    await v.go("/seal");
    await v.page.getByRole("heading", { name: "Seal", level: 1 }).waitFor();
    await open(v);
    await v.page.keyboard.type("new token");
    await palette(v).getByText("Nothing matches.").waitFor();
    await v.end();
  });

  it("switches theme and language", async () => {
    const v = await visit();
    await v.signIn("/records");
    await open(v);
    await v.page.keyboard.type("dark");
    await v.page.keyboard.press("Enter");
    await expect.poll(() => v.page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    expect(await v.page.getByRole("radio", { name: "Dark" }).isChecked()).toBe(true);
    await open(v);
    await v.page.keyboard.type("español");
    await v.page.keyboard.press("Enter");
    await expect.poll(() => v.page.evaluate(() => document.documentElement.lang)).toBe("es");
    await v.page.keyboard.press("Control+k");
    const spanish = v.page.getByRole("dialog", { name: "Buscar o hacer algo" });
    await spanish.getByRole("option", { name: "Ir a los hilos" }).waitFor();
    await v.accessible("the palette in Spanish");
    await v.end();
  });

  it("opens what a pasted hash or a link to it names", async () => {
    const [message, session] = server
      .sql("SELECT hash, session_hash FROM log.messages WHERE thread_hash IS NOT NULL ORDER BY id LIMIT 1")
      .split("|");
    const v = await visit();
    await v.signIn("/records");
    await open(v);
    await v.page.keyboard.insertText(message ?? "");
    await palette(v)
      .getByRole("option", { name: `Message ${message?.slice(0, 8)}` })
      .click();
    await expect.poll(() => v.page.url()).toMatch(new RegExp(`message=\\d+\\.${message?.slice(0, 12)}`));
    await open(v);
    await v.page.keyboard.insertText(`https://elsewhere.example/sessions/${session}`);
    await palette(v).getByRole("option", { name: "Follow the link" }).click();
    await expect.poll(() => path(v)).toBe(`/sessions/${session}`);
    await open(v);
    await v.page.keyboard.insertText("0".repeat(64));
    await palette(v).getByText("Nothing that you may see has this hash.").waitFor();
    await v.end();
  });

  it("says that it could not look for a hash", async () => {
    const v = await visit();
    await v.signIn("/records");
    await open(v);
    await v.page.route("**/graphql", (r) => r.abort());
    await v.page.keyboard.insertText("1".repeat(64));
    await palette(v).getByText("Could not look for this hash").waitFor();
    await v.end(/ERR_FAILED/);
  });

  it("offers an agent only the pages that are open to them", async () => {
    const player = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1");
    const { secret } = await server.makeToken({ player, kind: "AGENT", scopes: ["log:read"], expiresAt: inAnHour() });
    const v = await visit();
    await v.signIn("/records", secret);
    await open(v);
    await palette(v).getByRole("option", { name: "Go to threads" }).waitFor();
    await expect.poll(() => palette(v).getByRole("option", { name: "Go to tokens" }).count()).toBe(0);
    await v.page.keyboard.press("Escape");
    await v.page.keyboard.type("gq"); // quarantine is for administrators
    await v.page.keyboard.type("gt");
    await expect.poll(() => path(v)).toBe("/threads");
    await v.end();
  });
});

describe("what pages are for", () => {
  const choose = async (v: Visit, typed: string, name: string) => {
    await open(v);
    await v.page.keyboard.type(typed);
    await expect.poll(() => active(v).innerText()).toContain(name);
    await v.page.keyboard.press("Enter");
    await palette(v).waitFor({ state: "detached" });
  };
  const first = () =>
    server
      .sql("SELECT session_hash, hash FROM log.messages WHERE event_type = 'message' ORDER BY id LIMIT 1")
      .split("|");

  it("is in the palette: a chain is verified, and a message's references are opened", async () => {
    const [session, hash] = first();
    const v = await visit();
    await v.signIn(`/sessions/${session}?message=${hash}`);
    await v.page.getByText("Recomputed in this browser").waitFor();
    await choose(v, "verify chain", "Verify the chain");
    await v.page.getByText("The script that checked this").waitFor();
    await open(v);
    await v.page.keyboard.type("cancel");
    await expect.poll(() => palette(v).getByRole("option", { name: "Cancel the verification" }).count()).toBe(0);
    await v.page.keyboard.press("Escape");
    await palette(v).waitFor({ state: "detached" });
    await v.page.keyboard.press("r");
    await expect.poll(() => path(v)).toBe(`/messages/${hash}/references`);
    await v.end();
  });

  it("is in the palette: a message is put into quarantine, and erased", async () => {
    const [session, hash] = first();
    const v = await visit();
    await v.signIn(`/sessions/${session}?message=${hash}`);
    await v.page.getByRole("button", { name: "Quarantine…" }).waitFor();
    await choose(v, "put quarantine", "Put the message into quarantine");
    await v.page.getByRole("dialog", { name: /into quarantine\?$/ }).waitFor();
    await v.page.keyboard.press("Escape");
    await choose(v, "erase", "Erase the message’s content");
    await v.page.getByRole("dialog", { name: /^Erase the content of message/ }).waitFor();
    await v.page.keyboard.press("Escape");
    await v.end();
  });

  it("is in the tooltips of a conversation's buttons, with its keys", async () => {
    const [session, hash] = first();
    const v = await visit();
    await v.signIn(`/sessions/${session}?message=${hash}`);
    await v.page.getByRole("heading", { name: /^Message #/ }).waitFor();
    const told = (name: string) => v.page.getByRole("button", { name, exact: true }).getAttribute("title");
    await expect.poll(() => told("Jump to…")).toBe("Jump to a number, date or hash (L)");
    expect(await told("Verify")).toBe("Verify the chain (V)");
    expect(await told("Open it full")).toBe("Open it full (Enter)");
    expect(await told("Close the message")).toBe("Close the message (Esc)");
    await v.page.getByRole("button", { name: "Open it full" }).click();
    await v.page.getByRole("link", { name: "Back to the conversation" }).waitFor();
    await v.end();
  });

  it("is done to the row that has the focus, and to none where none has it", async () => {
    const player = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1");
    const v = await visit();
    for (const note of ["one that stays", "one that goes"])
      await server.makeToken({ player, kind: "AGENT", scopes: ["log:read"], expiresAt: inAnHour(), note });
    await v.signIn("/tokens");
    await v.page.getByText("one that goes").first().waitFor();
    await choose(v, "revoke", "Revoke a token");
    await expect.poll(() => v.focused()).toMatch(/^Revoke…the token of/);
    expect(await v.page.getByRole("dialog").count()).toBe(0);
    await v.page.getByRole("listitem").filter({ hasText: "one that goes" }).getByRole("button").last().focus();
    await choose(v, "revoke", "Revoke a token");
    const dialog = v.page.getByRole("dialog", { name: /^Revoke/ });
    await dialog.getByText("one that goes").waitFor();
    await v.page.keyboard.press("Escape");
    await v.end();
  });

  it("is offered for each table of a page by its name", async () => {
    const v = await visit();
    await v.signIn("/settings");
    await v.page.getByRole("heading", { name: "Roles in the database" }).waitFor();
    await open(v);
    await v.page.keyboard.type("download json");
    const options = palette(v).getByRole("option");
    await expect.poll(() => options.count()).toBeGreaterThan(1);
    const names = await options.allInnerTexts();
    expect(names.every((name) => name.startsWith("Download the table as JSON: "))).toBe(true);
    expect(new Set(names).size).toBe(names.length);
    const saved = v.page.waitForEvent("download");
    await palette(v).getByRole("option", { name: "Download the table as JSON: Roles in the database" }).click();
    expect((await saved).suggestedFilename()).toBe("roles.json");
    await v.end();
  });
});

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe("keys", () => {
  it("go from page to page, never while somebody types or a dialog is open", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.keyboard.type("gp");
    await expect.poll(() => path(v)).toBe("/components");
    await v.page.getByRole("searchbox").waitFor();
    await v.page.keyboard.press("/");
    await expect.poll(() => v.focused()).toBe("Find by name, key or description");
    await v.page.keyboard.type("gr?");
    expect(await v.page.getByRole("searchbox").inputValue()).toBe("gr?");
    await v.page.keyboard.press("Control+k"); // this one counts in a field
    await palette(v).waitFor();
    await v.page.keyboard.type("gr");
    await v.page.keyboard.press("Escape");
    expect(path(v)).toBe("/components");
    expect(await v.focused()).toBe("Find by name, key or description");
    await v.end();
  });

  it("of one letter can be switched off, and stay so", async () => {
    const v = await visit();
    await v.signIn("/records");
    await v.page.keyboard.press("?");
    await help(v).getByRole("checkbox", { name: "Single-letter keys" }).uncheck();
    await expect.poll(() => help(v).getByText("Go to threads").count()).toBe(0);
    await v.page.keyboard.press("Escape");
    await v.page.keyboard.type("gp?");
    await v.page.reload();
    await v.page.getByRole("button", { name: "Sign out" }).waitFor();
    await v.page.keyboard.type("gp?");
    await expect.poll(() => help(v).count()).toBe(0);
    expect(path(v)).toBe("/records");
    await open(v); // the palette remains, and leads to the switch
    await v.page.keyboard.type("single");
    await v.page.keyboard.press("Enter");
    await palette(v).waitFor({ state: "detached" });
    await v.page.keyboard.type("gp");
    await expect.poll(() => path(v)).toBe("/components");
    await v.end();
  });

  it("stand in the tooltip of what they do", async () => {
    const v = await visit();
    await v.signIn("/tokens");
    const button = v.page.getByRole("button", { name: "New token" });
    expect(await button.getAttribute("title")).toBe("New token (N)");
    expect(await button.getAttribute("aria-keyshortcuts")).toBe("N");
    await v.page.keyboard.press("n");
    await v.page.getByRole("complementary", { name: "New token" }).waitFor();
    await v.page.keyboard.press("Escape");
    await expect.poll(() => v.focused()).toBe("New token");
    await v.end();
  });
});

it("has no finding of axe", async () => {
  const v = await visit();
  await v.signIn("/records");
  await v.page.getByRole("button", { name: /^Find…/ }).click();
  const option = palette(v).getByRole("option", { name: "Go to threads" });
  await option.waitFor();
  await v.everyLook("the palette", option);
  await v.page.keyboard.type("keyboard");
  await v.page.keyboard.press("Enter");
  await help(v).waitFor();
  await v.everyLook("the help sheet", help(v));
  await v.end();
});
