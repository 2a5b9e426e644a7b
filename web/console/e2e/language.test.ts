import { readdirSync, readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
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

const folder = new URL("../src/words/", import.meta.url).pathname;
const catalogue = (language: string): string[] =>
  readdirSync(`${folder}${language}`).flatMap((name) =>
    Object.values(JSON.parse(readFileSync(`${folder}${language}/${name}`, "utf8")) as Record<string, string>),
  );
const spanish = new Set(catalogue("es"));
// What nobody could take for Spanish, or for what the log holds: whole texts without places.
const english = new Set(catalogue("en").filter((m) => !/[{<]/.test(m) && !spanish.has(m)));

// The texts of a page, each element's own, with what names it and what stands in its empty fields.
const texts = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [document.title.split(" · ")[0] ?? ""];
    for (const e of document.querySelectorAll("body *:not(script)")) {
      for (const n of e.childNodes) if (n.nodeType === Node.TEXT_NODE) found.push(n.textContent ?? "");
      for (const a of ["aria-label", "title", "placeholder"]) found.push(e.getAttribute(a) ?? "");
    }
    return found.map((t) => t.trim()).filter((t) => t !== "");
  });

const pages = [
  "threads",
  "context",
  "selections",
  "components",
  "records",
  "seal",
  "tokens",
  "tokens?new",
  "quarantine",
];

describe("a Spanish browser", () => {
  it.each(["light", "dark"] as const)("gets no English word of the console on any page, %s", async (theme) => {
    const v = await Visit.begin(browser, server, { theme, locale: "es-ES" });
    await v.go("/");
    await v.page.getByRole("heading", { name: "Entrar" }).waitFor();
    expect((await texts(v.page)).filter((t) => english.has(t))).toEqual([]);
    await v.page.goto(`${server.base}/#token=${server.token}`);
    await v.page.getByRole("button", { name: "Cerrar sesión" }).waitFor();
    for (const path of pages) {
      await v.go(`/${path}`);
      await v.page.getByRole("heading", { level: 1 }).waitFor();
      await v.page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
      expect(await v.page.locator("html").getAttribute("lang")).toBe("es");
      expect(
        (await texts(v.page)).filter((t) => english.has(t)),
        path,
      ).toEqual([]);
    }
    await v.end();
  });
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
