// Context windows by hand: made, written to, compressed and deleted; what is on a scratchpad; tools.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";
import { at, button, main, makeWindow, saidIn, saying, stateOf, talk, vouch } from "./windows";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  await vouch(server, "Eiffel Tower", "The Eiffel Tower is in Paris");
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = () => Visit.begin(browser, server);

it("a window is made, written to, compressed, emptied and deleted", async () => {
  const v = await visit();
  await v.signIn("/windows");
  await button(v, "New window").waitFor();
  await v.page.keyboard.press("n");
  const form = v.page.getByRole("complementary", { name: "New context window" });
  await form.getByLabel("Capacity").fill("12");
  await button(form, "Make the window").click();
  await form.getByText("A whole number from 16 to 2,000,000.").waitFor();
  expect(await v.focused()).toBe("Name");
  await form.getByLabel("Name").fill("made by hand");
  await form.getByLabel("Capacity").fill("400");
  await form.getByLabel("Task").fill("Visit the Eiffel Tower");
  await button(form, "Make the window").click();
  await v.page.getByRole("heading", { name: "made by hand" }).waitFor();
  const id = decodeURIComponent(new URL(v.page.url()).pathname.replace("/windows/", ""));

  await v.page.keyboard.press("w");
  const side = v.page.getByRole("complementary", { name: "Write" });
  const put = async (type: string, content: string) => {
    await side.getByLabel("Type").selectOption(type);
    await side.getByLabel("Content").fill(content);
    await button(side, "Write").click();
  };
  await put("KNOWLEDGE", "The Eiffel Tower is in London");
  await side.getByText("It was rejected.").waitFor();
  await side.getByText("They contradict each other").waitFor();
  await put("KNOWLEDGE", "The Eiffel Tower is in Paris");
  await side.getByText("It entered.").waitFor();
  await main(v).locator("[data-item]").filter({ hasText: "Verified by Eiffel Tower" }).waitFor();
  await side.getByLabel("Key").fill("goal.day");
  await put("GOAL", "Go up on Tuesday");
  await main(v).locator("code", { hasText: "goal.day" }).waitFor();
  await side.getByLabel("Key").fill(""); // which only a goal, a preference, a decision or the user takes from a goal
  await put("KNOWLEDGE", `The Eiffel Tower is tall. ${saying(3).repeat(60)}`);
  await side.getByText("CONTEXT_WINDOW_EXCEEDED").waitFor();
  await side.getByText("Onto the scratchpad").click();
  await side.getByLabel("Content").fill("A page about towers");
  await button(side, "Write").click();
  await side.getByText("It is on the scratchpad").waitFor();
  await v.page.keyboard.press("Escape");
  await side.waitFor({ state: "hidden" });

  await talk(server, id, 0.6, 1);
  await button(v, "Look again").click();
  await button(v, "Compress…").click();
  const dialog = v.page.getByRole("dialog");
  await dialog.getByLabel("Down to, in percent of the capacity").fill("20");
  await button(dialog, "Compress").click();
  await dialog.waitFor({ state: "hidden" });
  const { used, capacity, items } = await stateOf(server, id);
  expect(used / capacity).toBeLessThan(0.4);
  await main(v).getByText(`${used} of ${capacity} tokens`).waitFor();

  const goal = main(v).locator("[data-item]").filter({ hasText: "Go up on Tuesday" });
  await button(goal, "Remove…").click();
  await button(dialog, "Remove").click();
  await goal.waitFor({ state: "detached" });
  expect((await stateOf(server, id)).items).toHaveLength(items.length - 1);

  await button(v, "Delete…").click();
  expect(await dialog.innerText()).toContain("made by hand goes for good");
  await button(dialog, "Delete").click();
  await v.page.waitForURL(/\/windows$/);
  await main(v).getByText("There is no window").waitFor();
  await expect.poll(() => main(v).getByText("made by hand").count()).toBe(0);
  await v.go(at(id));
  await v.page.getByRole("heading", { name: "There is no such window" }).waitFor();
  await v.end();
});

it("what is on a scratchpad is read, on record, and put into the window", async () => {
  const id = await makeWindow(server, { name: "papers" });
  await server.ask("mutation ($w: ID!, $c: [String!]!) { offload(window: $w, contents: $c) { id } }", {
    w: id,
    c: ["The first paper, on towers", "The second paper, on rivers"],
  });
  const v = await visit();
  await v.signIn(at(id, "scratchpad"));
  const entries = main(v).locator("[data-entry]");
  await entries.nth(1).waitFor();
  await expect.poll(() => main(v).getByText("paper, on").count()).toBe(0);
  await button(entries.first(), "Read").click();
  await entries.first().getByText("The second paper, on rivers").waitFor();
  await v.page.keyboard.press("w");
  const side = v.page.getByRole("complementary", { name: "Write" });
  await side.getByText("Onto the scratchpad").click();
  await side.getByLabel("Content").fill("The third paper, on seas");
  await button(side, "Write").click();
  await entries.nth(2).waitFor();
  await v.page.keyboard.press("Escape");
  await button(entries.nth(2), "Inject").click();
  await expect.poll(() => saidIn(server, id)).toEqual(["The first paper, on towers"]);
  await v.page.getByText("What was done").click();
  const kinds = main(v).locator("article[data-kind]");
  await kinds.nth(3).waitFor();
  expect(await kinds.evaluateAll((all) => all.map((e) => e.getAttribute("data-kind")))).toEqual([
    "INJECT",
    "OFFLOAD",
    "READ",
    "OFFLOAD",
  ]);
  await v.page.getByText("What it holds").click();
  await main(v).locator("[data-item]").filter({ hasText: "From the scratchpad" }).waitFor();
  await v.end();
});

it("tools that are too many stand aside until they are searched for", async () => {
  const id = await makeWindow(server, { name: "tools" });
  const tools = Array.from({ length: 33 }, (_, n) => ({
    name: `tool_${n}`,
    description: `Converts format number ${n} of a picture`,
  }));
  const found = {
    name: "search_flights",
    description: "Finds flights between two airports on a day",
    schema: { type: "object" },
  };
  await server.ask("mutation ($w: ID!, $t: [ToolInput!]!) { registerTools(window: $w, tools: $t) { name } }", {
    w: id,
    t: [found, ...tools],
  });
  const v = await visit();
  await v.signIn(at(id, "tools"));
  await main(v).getByText("34 tools; 0 described in the window").waitFor();
  const row = main(v).getByRole("row").filter({ hasText: "search_flights" });
  expect(await row.innerText()).toContain("Aside");
  await v.page.keyboard.press("/");
  await v.page.keyboard.type("search flights");
  await v.page.keyboard.press("Enter");
  const list = v.page.getByRole("list", { name: "Found, best first" });
  await list.waitFor();
  expect(await list.getByRole("listitem").first().innerText()).toContain("search_flights");
  await row.getByText("Shown").waitFor();
  await row.getByText("Parameters").click();
  expect(await row.getByRole("region").innerText()).toContain('"type": "object"');
  await v.page.getByText("What was done").click();
  await main(v).locator("li[data-failure=CONFUSION]").waitFor();
  await v.end();
});
