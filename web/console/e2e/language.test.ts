import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe("the switch of languages", () => {
  it("changes the words and keeps the page's data, and is remembered", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn();
    await v.page.getByRole("listitem").first().waitFor();
    expect(await v.page.locator("html").getAttribute("lang")).toBe("en");
    await v.page.getByText("Español", { exact: true }).click();
    await v.page.locator("html[lang=es]").waitFor();
    expect(await v.page.getByRole("group", { name: "Idioma" }).count()).toBe(1);
    await v.page.screenshot({ path: "/tmp/h/es.png" });
    await v.end();
  });
});
