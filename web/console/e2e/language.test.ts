// Switching languages. That each page is all in one is in pages.test.ts.
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
  it("changes words, numbers and times, asks for no data again, and is remembered", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn("/records");
    await v.page.getByRole("heading", { name: "Records" }).waitFor();
    await v.page.getByRole("listitem").getByRole("button").first().click();
    const panel = v.page.getByRole("complementary");
    await panel.locator("time").waitFor();
    const before = await panel.locator("time").getAttribute("title");
    const asked: string[] = [];
    v.page.on("request", (r) => {
      if (/Records?\b/.test(r.postData() ?? "")) asked.push(r.url());
    });
    await v.page.getByRole("radio", { name: "Español" }).click();
    await v.page.getByRole("heading", { name: "Apuntes" }).waitFor();
    expect(await v.page.locator("html").getAttribute("lang")).toBe("es");
    expect(await v.page.title()).toMatch(/^Apuntes/);
    expect(await panel.locator("time").getAttribute("title")).not.toBe(before);
    expect(asked).toEqual([]);
    await v.page.reload();
    await v.page.getByRole("heading", { name: "Apuntes" }).waitFor();
    await v.page.getByRole("radio", { name: "English" }).click();
    await v.page.getByRole("heading", { name: "Records" }).waitFor();
    await v.end();
  });
});
