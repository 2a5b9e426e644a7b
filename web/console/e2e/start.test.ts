import type { Browser, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

// What an address opens, to the letter, and what is shown where the console's words do not come.
let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await startServer();
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
  await server.stop();
});

describe("an address", () => {
  it("is read as it was written, per cent signs and all", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn("/threads?q=%2541%2B%25");
    const words = v.page.getByRole("searchbox", { name: "Words in the text" });
    await words.waitFor();
    expect(await words.inputValue()).toBe("%41+%");
    await words.fill("100%41 & more");
    await v.page.waitForURL(/q=100%2541\+%26\+more/);
    await v.page.reload();
    await words.waitFor();
    expect(await words.inputValue()).toBe("100%41 & more");
    await v.end();
  });
});

describe.each([
  ["en-GB", "The console's words did not load", "Try again"],
  ["es-ES", "No se han cargado los textos de la consola", "Volver a intentarlo"],
])("where no words come, in %s", (locale, said, again) => {
  it.each(["/threads", "/playground"])("%s says so, and tries again", async (path) => {
    const v = await Visit.begin(browser, server, { locale });
    const language = locale.slice(0, 2);
    const catalogue = async (route: Route) => {
      const text = await (await route.fetch()).text();
      return text.includes(language === "en" ? "Sign out" : "Cerrar la sesi") ? route.abort() : route.continue();
    };
    await v.page.route(/\/assets\/.*\.js$/, catalogue);
    await v.go(path);
    const alert = v.page.getByRole("alert");
    await alert.getByRole("heading", { name: said }).waitFor();
    expect(await v.focused()).toBe(again);
    expect(await v.page.evaluate(() => document.documentElement.lang)).toBe(language);
    await v.accessible(`${path} without words`);
    await v.page.unrouteAll({ behavior: "wait" });
    await v.page.keyboard.press("Enter");
    await v.page.locator("form input").waitFor(); // asks for a token, as a first visit does
    await v.end(/console: Failed to load resource/, /Failed to fetch dynamically imported module/);
  });
});

describe("the playground", () => {
  it("opens the README's examples, each in a tab, and they run", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn();
    await v.go("/playground");
    const examples = v.page.getByRole("button", { name: "Examples" });
    await examples.focus();
    await v.page.keyboard.press("Enter");
    const list = v.page.getByRole("list").filter({ has: v.page.getByRole("button", { name: "Append" }) });
    expect(await list.getByRole("button").allTextContents()).toEqual([
      "Say who is who",
      "Append",
      "Ask for context",
      "Read a thread",
      "Verify",
    ]);
    await v.accessible("the playground's examples");
    await list.getByRole("button", { name: "Append" }).click();
    await v.page.getByText("appendMessages").first().waitFor();
    await v.page.getByRole("button", { name: "Execute query (Ctrl-Enter)" }).click();
    await v.page.getByText('"prevHash"').first().waitFor();
    expect(server.sql("SELECT count(*) FROM log.messages WHERE content LIKE 'Room 31 looks at the river mouth%'")).toBe(
      "1",
    );
    await v.end();
  });
});
