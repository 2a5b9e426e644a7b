// Forms by hand on a window's page: tools, what windows share, and selections; and what an erasure takes from windows.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";
import { at, button, main, makeWindow, saidIn, stateOf, vouch, write } from "./windows";
import { englishOn } from "./words";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  await vouch(server, "The ferry", "The ferry to the island leaves at nine from the old harbour");
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);
const side = (v: Visit, name: string) => v.page.getByRole("complementary", { name });

/** An agent of its own, with a token that may do this. */
async function agent(name: string, scopes: string[]): Promise<string> {
  const player = { namespace: "PLY", key: name, name };
  const query = "mutation ($c: [ComponentInput!]!) { upsertComponents(components: $c) { hash } }";
  const made = await server.ask<{ upsertComponents: { hash: string }[] }>(query, { c: [player] });
  return (await server.makeToken({ kind: "AGENT", player: made.upsertComponents[0]?.hash, scopes })).secret;
}

/** Shares something between windows, as an administrator. */
async function segmentOf(name: string, windows: string[]): Promise<string> {
  const query = "mutation ($n: String!, $w: [ID!]!) { createSegment(name: $n, windows: $w) { id } }";
  return (await server.ask<{ createSegment: { id: string } }>(query, { n: name, w: windows })).createSegment.id;
}

describe("a tool", () => {
  it("is registered by keyboard alone, its schema's mistakes said at the field", async () => {
    const id = await makeWindow(server, { name: "toolbox" });
    const v = await visit();
    await v.signIn(at(id));
    await button(v, "Write…").waitFor();
    await v.page.keyboard.press("r");
    const form = side(v, "Register a tool");
    await form.waitFor();
    await main(v).getByText("None is registered.").waitFor(); // behind the form is what it changes
    await v.tabTo(/^Name$/);
    await v.page.keyboard.type("open_gate");
    await v.page.keyboard.press("Tab");
    await v.page.keyboard.type("Opens the gate of a garden");
    await v.page.keyboard.press("Tab");
    await v.page.keyboard.type('{"type": object}');
    await v.tabTo(/^Register the tool$/);
    await v.page.keyboard.press("Enter");
    await form.getByRole("alert").getByText("This is not JSON.").waitFor();
    expect(await v.focused()).toBe("Parameters");
    await v.page.keyboard.press("Control+A");
    await v.page.keyboard.type('{"title": "\\u0000"}');
    await v.tabTo(/^Register the tool$/);
    await v.page.keyboard.press("Enter");
    await form.getByRole("alert").getByText("holds the character U+0000").waitFor(); // what only the server knows
    await expect.poll(() => v.focused()).toBe("Parameters");
    await v.page.keyboard.press("Control+A");
    await v.page.keyboard.type('{"type": "object"}');
    await v.tabTo(/^Register the tool$/);
    await v.page.keyboard.press("Enter");
    await form.getByText("open_gate is registered and described in the window").waitFor();
    await expect.poll(() => v.focused()).toBe("Name");
    expect(await form.getByLabel("Name").inputValue()).toBe("");
    await main(v).getByRole("row").filter({ hasText: "Opens the gate of a garden" }).getByText("Shown").waitFor();
    await v.page.keyboard.press("Escape");
    await form.waitFor({ state: "hidden" });
    expect(await v.focused()).toBe("Register…");
    await v.end();
  });

  it("takes the place of one of its name only after a question", async () => {
    const id = await makeWindow(server, { name: "one tool" });
    const tools = [{ name: "open_gate", description: "Opens the gate" }];
    const register = "mutation ($w: ID!, $t: [ToolInput!]!) { registerTools(window: $w, tools: $t) { name } }";
    await server.ask(register, { w: id, t: tools });
    const v = await visit();
    await v.signIn(at(id, "tools&register="));
    const form = side(v, "Register a tool");
    await form.getByLabel("Name").fill("open_gate");
    await form.getByText("The window has a tool of this name").waitFor();
    await form.getByLabel("Description").fill("Opens the other gate");
    await button(form, "Register the tool").click();
    const dialog = v.page.getByRole("dialog");
    expect(await dialog.innerText()).toContain("Opens the gate");
    await button(dialog, "Cancel").click();
    await dialog.waitFor({ state: "detached" });
    expect(await form.getByLabel("Description").inputValue()).toBe("Opens the other gate");
    await button(form, "Register the tool").click();
    await button(dialog, "Replace it").click();
    await dialog.waitFor({ state: "detached" });
    await main(v).getByRole("row").filter({ hasText: "Opens the other gate" }).waitFor();
    await expect.poll(() => main(v).getByText("Opens the gate", { exact: true }).count()).toBe(0);
    await expect.poll(() => v.focused()).toBe("Name");
    await server.ask(register, {
      w: id,
      t: Array.from({ length: 29 }, (_, n) => ({ name: `t${n}`, description: "" })),
    });
    await button(v, "Look again").click();
    await form.getByText("With one more it describes none").waitFor();
    await form.getByLabel("Name").fill("close_gate");
    await button(form, "Register the tool").click();
    await form.getByText("close_gate is registered. Of more than 30 tools").waitFor();
    await v.end();
  });

  it("takes the place of all others only after a question, which names them", async () => {
    const id = await makeWindow(server, { name: "many tools" });
    const register = "mutation ($w: ID!, $t: [ToolInput!]!) { registerTools(window: $w, tools: $t) { name } }";
    const tools = ["open_gate", "close_gate"].map((name) => ({ name, description: `does ${name}` }));
    await server.ask(register, { w: id, t: tools });
    const v = await visit();
    await v.signIn(at(id, "tools&register="));
    const form = side(v, "Register a tool");
    await form.getByLabel("Name").fill("ring_bell");
    await form.getByLabel("The window is to have no other tool").check();
    await form.getByText("The 2 others that it has leave it for good").waitFor();
    await button(form, "Register the tool").click();
    const dialog = v.page.getByRole("dialog");
    expect(await dialog.innerText()).toMatch(/These 2 tools leave the window for good:\s+close_gate\s+open_gate/);
    await button(dialog, "Cancel").click();
    await dialog.waitFor({ state: "detached" });
    expect(await main(v).getByText("does open_gate").count()).toBe(1);
    await button(form, "Register the tool").click();
    await button(dialog, "Replace all").click();
    await dialog.waitFor({ state: "detached" });
    await form.getByText("ring_bell is registered and described in the window").waitFor();
    await main(v).getByText("does open_gate").waitFor({ state: "detached" });
    const query = "query ($w: ID!) { window(id: $w) { tools { name } } }";
    const now = await server.ask<{ window: { tools: { name: string }[] } }>(query, { w: id });
    expect(now.window.tools).toEqual([{ name: "ring_bell" }]);
    expect(await form.getByLabel("The window is to have no other tool").isChecked()).toBe(false); // for the next one
    await v.end();
  });

  it("that does not fit is refused with the server's words, and the form keeps it", async () => {
    const id = await makeWindow(server, { name: "tight", capacity: 20 });
    const v = await visit();
    await v.signIn(at(id, "tools&register="));
    const form = side(v, "Register a tool");
    await form.getByLabel("Name").fill("long_winded");
    await form.getByLabel("Description").fill("word ".repeat(60));
    await button(form, "Register the tool").click();
    await form.getByRole("alert").getByText("CONTEXT_WINDOW_EXCEEDED").waitFor();
    expect(await form.getByLabel("Name").inputValue()).toBe("long_winded");
    await expect.poll(() => v.focused()).toBe("Register the tool");
    await v.end();
  });
});

describe("what windows share", () => {
  it("is made over several, written into, and says who else sees it", async () => {
    const token = await agent("Rosalind of the forms", ["log:read", "context:select", "memory:write"]);
    const one = await makeWindow(server, { name: "a journey by sea" }, token);
    const v = await visit();
    await v.signIn(at(one), token);
    await main(v).getByText("It shares nothing.").waitFor();
    await v.page.keyboard.press("h");
    const form = side(v, "Share with other windows");
    await form.getByText("No other window counts in o200k_base").waitFor();
    await v.page.keyboard.press("Escape");
    await form.waitFor({ state: "hidden" });
    expect(await v.focused()).toBe("Share…");

    await makeWindow(server, { name: "counts otherwise", encoding: "cl100k_base" }, token);
    await makeWindow(server, { name: "an inn on the island" }, token);
    const other = await makeWindow(server, { name: "a window of the administrator" });
    await v.page.keyboard.press("Enter");
    await button(form, "Make the segment").click();
    await form.getByText("It must not be empty.").waitFor();
    await form.getByText("Choose at least one window").waitFor();
    expect(await v.focused()).toBe("Name");
    await expect.poll(() => form.getByRole("checkbox").count()).toBe(1); // its own others that count alike
    await v.page.keyboard.type("who travels");
    await v.page.keyboard.press("Tab");
    await v.page.keyboard.press("Space");
    await v.tabTo(/^Make the segment$/);
    await v.page.keyboard.press("Enter");

    const writing = side(v, "Write");
    await writing.waitFor();
    expect(await writing.getByLabel("Segment").inputValue()).not.toBe("");
    await writing.getByText("2 windows see it").waitFor();
    await main(v).getByRole("heading", { name: "Shared: who travels" }).waitFor();
    await main(v).getByText("Nothing has been written into it.").nth(1).waitFor();
    await writing.getByLabel("Type").selectOption("USER_PREFERENCE");
    await writing.getByLabel("Content").fill("The traveller gets seasick easily");
    await button(writing, "Write").click();
    await writing.getByText("It entered.").waitFor();
    await expect.poll(() => v.focused()).toBe("Content");
    const item = main(v).locator("[data-item]").filter({ hasText: "seasick" });
    await item.waitFor();
    await v.page.keyboard.press("Escape");
    await expect.poll(() => v.focused()).toBe("Write into it…");
    const seen = main(v).locator("[data-segment]");
    expect(await seen.innerText()).toContain("In an inn on the island");

    await segmentOf("all of us", [one, other]);
    await button(v, "Look again").click();
    await seen.nth(1).getByText("Seen by 2 windows, and counted in each.").waitFor();
    expect(await seen.nth(1).innerText()).not.toContain("administrator");
    await seen.first().getByRole("link", { name: "an inn on the island" }).click();
    await v.page.getByRole("heading", { name: "an inn on the island" }).waitFor();
    await item.waitFor();
    await button(item, "Remove…").click();
    const dialog = v.page.getByRole("dialog");
    await dialog.getByText("It leaves all 2 windows that see it.").waitFor();
    await button(dialog, "Remove").click();
    await item.waitFor({ state: "detached" });
    await v.end();
  });

  it("is not offered to whoever may only read, nor is anything else by hand", async () => {
    const token = await agent("Ottoline who reads", ["log:read", "context:select"]);
    const writer = await agent("Ottoline who reads", ["context:select", "memory:write"]);
    const id = await makeWindow(server, { name: "to be read" }, writer);
    const v = await visit();
    await v.signIn(at(id), token);
    await main(v).getByText("It shares nothing.").waitFor();
    for (const name of ["Write…", "Select…", "Share…", "Compress…"])
      await expect.poll(() => button(v, name).count()).toBe(0);
    await v.page.keyboard.press("s");
    await v.page.keyboard.press("h");
    await v.page.keyboard.press("r");
    await v.page.getByText("Tools", { exact: true }).click();
    await main(v).getByText("None is registered.").waitFor();
    await expect.poll(() => button(v, "Register…").count()).toBe(0);
    await expect.poll(() => v.page.getByRole("complementary").count()).toBe(0);
    await v.go(at(id, "tools&register="));
    await side(v, "Register a tool").getByText("You may not write to windows").waitFor();
    await v.end();
  });
});

it("a selection is asked for within limits, and what came in is shown with the way to its receipt", async () => {
  const id = await makeWindow(server, { name: "an outing", capacity: 600 });
  const v = await visit();
  await v.signIn(at(id));
  await button(v, "Select…").waitFor();
  await v.page.keyboard.press("s");
  const form = side(v, "Select into the window");
  await v.tabTo(/^What is needed/);
  await v.tabTo(/^Items at most/);
  await v.page.keyboard.press("Control+A");
  await v.page.keyboard.type("0");
  await v.page.keyboard.press("Enter");
  await form.getByText("It must not be empty.").waitFor();
  await form.getByText("A whole number from 1 to 200.").waitFor();
  expect(await v.focused()).toBe("What is needed?");
  await v.page.keyboard.type("When does the ferry to the island leave the old harbour?");
  await form.getByLabel("Items at most").fill("1");
  await form.getByText("600 now").waitFor();
  await form.getByLabel("Tokens at most").fill("200");
  await form.getByLabel("Least score").fill("0.2");
  let asked = 0;
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await v.page.route("**/graphql", async (route) => {
    const selects = route.request().postData()?.includes("mutation SelectIntoWindow");
    if (selects) asked++;
    if (selects) await held;
    await route.continue();
  });
  await button(form, "Select").click();
  await button(form, "Working…").waitFor();
  expect(await button(form, "Working…").isDisabled()).toBe(true);
  await form.getByLabel("Items at most").press("Enter"); // it is not asked twice
  answer();
  await form.getByText("The item that was selected came in.").waitFor();
  expect(asked).toBe(1);
  await expect.poll(() => v.page.evaluate(() => document.activeElement?.hasAttribute("data-next"))).toBe(true);
  await form.locator("article[data-kind=SELECT]").getByText("leaves at nine").first().waitFor();
  await main(v).locator("[data-item]").filter({ hasText: "leaves at nine" }).waitFor();
  expect((await saidIn(server, id)).join()).toContain("The ferry to the island leaves at nine");
  expect((await stateOf(server, id)).used).toBeLessThanOrEqual(200);
  await button(form, "Select").click(); // what is there is not there twice
  await form.getByText("1 item was selected, and did not come in.").waitFor();
  await form.getByLabel("Least score").fill("1");
  await form.getByLabel("What is needed?").fill("Zwölf Boxkämpfer jagen Viktor");
  await button(form, "Select").click();
  await form.getByText("Nothing was selected.").waitFor();
  await form.getByRole("list", { name: "Notices" }).waitFor();
  await form.getByRole("link", { name: "The selection and its receipt" }).click();
  await v.page.getByRole("heading", { name: "Receipt" }).waitFor();
  await v.end();
});

it("what an erasure takes from windows is counted in its dialog", async () => {
  const [session = "", hash = "", n] = server
    .sql(`SELECT m.session_hash, m.hash, m.sequence FROM log.messages m
      WHERE m.sequence = 3 AND m.event_type = 'message' AND length(m.content) > 60 ORDER BY m.id LIMIT 1`)
    .split("|");
  for (const name of ["first of two", "second of two"])
    await write(server, await makeWindow(server, { name }), "GOAL", "Go by what was said there", { source: hash });
  const v = await visit();
  await v.signIn(`/sessions/${session}?message=${hash}`);
  await v.page.getByRole("heading", { name: `Message #${n}` }).waitFor();
  await button(v, "Erase content…").click();
  const row = v.page.getByRole("dialog").locator("dl > div").filter({ hasText: "Context windows that forget it" });
  expect(await row.getByRole("definition").innerText()).toBe("2");
  await v.end();
});

it("each form is in Spanish for whoever reads that", async () => {
  const [id, other] = [await makeWindow(server, { name: "viaje" }), await makeWindow(server, { name: "casa" })];
  const segment = await segmentOf("familia", [id, other]);
  const v = await visit({ locale: "es-ES" });
  await v.signIn(at(id, "tools"));
  for (const form of ["register", "share", "select", `write=${segment}`]) {
    await v.go(`${at(id)}?${form}`);
    const open = v.page.getByRole("complementary");
    await open.locator("[type=submit]").waitFor();
    await open.locator("[type=checkbox], [role=radio], [type=radio], textarea").first().waitFor();
    if (!form.startsWith("write")) await open.locator("[type=submit]").click();
    expect(await englishOn(v.page), form).toEqual([]);
  }
  await v.end();
});

it("each form is accessible in every look, with its mistakes and with what came of it", async () => {
  const [id, other] = [
    await makeWindow(server, { name: "looked at" }),
    await makeWindow(server, { name: "beside it" }),
  ];
  const segment = await segmentOf("between them", [id, other]);
  const v = await visit();
  await v.signIn(at(id));
  const shared = main(v).getByRole("heading", { name: "Shared: between them" });
  await shared.waitFor();
  await v.everyLook("what it shares", shared);
  await v.go(at(id, "tools&register="));
  const tool = side(v, "Register a tool");
  await tool.getByLabel("Parameters").fill("{");
  await button(tool, "Register the tool").click();
  await v.everyLook("a tool, wrong", tool.getByText("This is not JSON."));
  await tool.getByLabel("Name").fill("open_gate");
  await tool.getByLabel("Parameters").fill('{"type": "object"}');
  await button(tool, "Register the tool").click();
  await v.everyLook("a tool, registered", tool.getByText("open_gate is registered"));
  await v.go(`${at(id)}?share=`);
  const share = side(v, "Share with other windows");
  await share.getByRole("checkbox").first().waitFor();
  await button(share, "Make the segment").click();
  await v.everyLook("sharing, wrong", share.getByText("Choose at least one window"));
  await v.go(`${at(id)}?write=${segment}`);
  await v.everyLook("writing to a segment", side(v, "Write").getByText("2 windows see it"));
  await v.go(`${at(id)}?select=`);
  const select = side(v, "Select into the window");
  await button(select, "Select").click();
  await v.everyLook("a selection, wrong", select.getByText("It must not be empty."));
  await select.getByLabel("What is needed?").fill("When does the ferry to the island leave the old harbour?");
  await select.getByLabel("Least score").fill("0.2");
  await button(select, "Select").click();
  await v.everyLook("a selection, done", select.getByRole("link", { name: "The selection and its receipt" }));
  await v.end();
}, 120_000);
