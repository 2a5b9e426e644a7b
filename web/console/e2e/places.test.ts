// Where somebody was, in a list and in a table: found again by going back and by loading anew.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Visit } from "./browser";
import type { Server } from "./server";
import { many, rows, startThreads } from "./threadlist";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  ({ server, browser } = await startThreads());
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const address = "/threads?channel=many-e2e";
const list = (v: Visit, name = "threads") => v.page.getByRole("region", { name, exact: true });

// The first row in view, and by how much it is cut off.
const first = (v: Visit, name?: string) =>
  list(v, name).evaluate((box) => {
    const top = box.getBoundingClientRect().top;
    const row = [...box.querySelectorAll("li")].find((li) => li.getBoundingClientRect().bottom > top + 1);
    const text = row?.querySelector("a")?.getAttribute("href") ?? "";
    return { text, into: Math.round(top - (row?.getBoundingClientRect().top ?? 0)) };
  });

// Scrolls down until it is far beyond the first page.
async function walkDown(v: Visit): Promise<Awaited<ReturnType<typeof first>>> {
  await rows(v).first().waitFor();
  await list(v).hover();
  await expect
    .poll(async () => {
      await v.page.mouse.wheel(0, 600);
      return list(v).evaluate((box) => box.scrollTop);
    })
    .toBeGreaterThan(2_700);
  await v.quiet();
  return await first(v);
}

// As who clicks does, but for Playwright's scrolling to what is cut off.
const follow = (v: Visit, href: string) =>
  v.page.locator(`a[href="${href}"]`).evaluate((link) => (link as HTMLElement).click());

describe("a list", () => {
  it("is where it was left after loading anew, going back, and news at its top", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(address);
    const left = await walkDown(v);
    await v.page.reload();
    await expect.poll(() => first(v)).toEqual(left);

    await follow(v, left.text);
    await v.page.getByRole("article").first().waitFor();
    await v.page.goBack();
    await expect.poll(() => first(v)).toEqual(left);

    await follow(v, left.text);
    await v.page.getByRole("article").first().waitFor();
    const [owner] = server.sql("SELECT owner_id FROM log.messages ORDER BY id LIMIT 1").split("\n");
    const news = ["a", "b", "c"].map((c) => ({
      ownerId: owner,
      sessionHash: c.repeat(64),
      threadHash: c.repeat(64),
      content: "news",
      channel: "many-e2e",
    }));
    await server.ask("mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", { m: news });
    await v.page.goBack();
    await expect.poll(() => first(v)).toEqual(left);
    await v.page.getByText(`${many + news.length} match, latest first`).waitFor();
    await v.end();
  });

  it("begins at its top under another filter, and where a link leads", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(address);
    await walkDown(v);
    await v.page.getByLabel("Time").selectOption({ label: "Last hour" });
    await rows(v).first().waitFor();
    await expect.poll(() => list(v).evaluate((box) => box.scrollTop)).toBe(0);
    await walkDown(v);
    await v.page.getByRole("link", { name: "Overview" }).click();
    await v.page.getByRole("heading", { name: "Overview" }).waitFor();
    await v.page.getByRole("link", { name: "Threads" }).first().click();
    await rows(v).first().waitFor();
    await v.quiet();
    expect(await list(v).evaluate((box) => box.scrollTop)).toBe(0);
    await v.end();
  });

  it("stays where it is beside what is opened, also after loading anew", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn("/components");
    await list(v, "components").getByRole("listitem").first().waitFor();
    await list(v, "components").hover();
    await v.page.mouse.wheel(0, 420);
    await v.quiet();
    const left = await first(v, "components");
    expect(left.text).toBeTruthy();
    await v.page.keyboard.press("n");
    await v.page.waitForURL(/\?new/);
    await v.page.getByRole("complementary").waitFor();
    await v.page.reload();
    await v.page.getByRole("complementary").waitFor();
    await expect.poll(async () => (await first(v, "components")).text).toBe(left.text);
    expect(await list(v, "components").evaluate((box) => box.scrollTop)).toBeGreaterThan(300);
    await v.end();
  });
});

describe("the order of a table", () => {
  it("is in the address, of each table by itself", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn("/settings");
    const of = (name: string) => v.page.getByRole("table", { name });
    const names = (name: string) => of(name).getByRole("rowheader").allInnerTexts();
    await of("Limits").waitFor();
    const [asItCame, kept] = [await names("Limits"), await names("How long things are kept")];
    const press = () => of("Limits").getByRole("button", { name: "Value" }).click();
    await press();
    await v.page.waitForURL(/\?order\.limits=value$/);
    await press();
    await v.page.waitForURL(/\?order\.limits=-value$/);
    const down = await names("Limits");
    expect(down).not.toEqual(asItCame);
    await v.page.reload();
    await of("Limits").waitFor();
    expect(await names("Limits")).toEqual(down);
    expect(await names("How long things are kept")).toEqual(kept);
    await press();
    await v.page.waitForURL(/\/settings$/);
    expect(await names("Limits")).toEqual(asItCame);
    await v.end();
  });
});
