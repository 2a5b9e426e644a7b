// Sets of filters of the list of threads that somebody named.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Visit } from "./browser";
import type { Server } from "./server";
import { many, query, rows, shows, startThreads } from "./threadlist";

let server: Server;
let browser: Browser;
let secret: string; // of a player who takes part in nothing

beforeAll(async () => {
  ({ server, browser, secret } = await startThreads());
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);

describe("saved views", () => {
  const views = (v: Visit) => v.page.getByRole("list", { name: "Views" });

  it("are saved, applied, renamed, deleted and brought back by keyboard alone, and are links", async () => {
    const v = await visit();
    await v.signIn("/threads");
    await rows(v).first().waitFor();
    await v.page.keyboard.press("/");
    await v.page.keyboard.type("zeppelin");
    await shows(v, 1);
    await v.tabTo(/^Views$/);
    await v.page.keyboard.press("Enter");
    await expect.poll(() => v.focused()).toBe("Name for this view");
    await v.page.keyboard.type("Airships");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("Airships is saved.").waitFor();
    await v.page.keyboard.press("Escape");
    await v.go("/threads");
    await rows(v).first().waitFor();

    await v.page.keyboard.press("v");
    await expect.poll(() => v.focused()).toBe("Airships");
    await v.page.keyboard.press("Enter");
    await shows(v, 1);
    expect(query(v).toString()).toBe("q=zeppelin");
    await v.page.keyboard.press("v");
    await expect.poll(() => v.focused()).toBe("Airships");
    expect(await views(v).getByRole("link").getAttribute("aria-current")).toBe("true");
    expect(await views(v).getByRole("link").getAttribute("href")).toBe("/threads?q=zeppelin");

    await v.page.keyboard.press("Tab");
    expect(await v.focused()).toBe("Rename Airships");
    await v.page.keyboard.press("Enter");
    await expect.poll(() => v.focused()).toBe("New name of Airships");
    await v.page.keyboard.type("Balloons");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("It is called Balloons now.").waitFor();
    await expect.poll(() => v.focused()).toBe("Balloons");
    await v.tabTo(/^Delete Balloons$/);
    await v.page.keyboard.press("Enter");
    await v.page.getByText("No views yet.").waitFor();
    await expect.poll(() => v.focused()).toBe("Bring Balloons back");
    await v.page.keyboard.press("Enter");
    await views(v).getByRole("link", { name: "Balloons" }).waitFor();
    await v.page.reload();
    await shows(v, 1);
    await v.page.keyboard.press("v");
    await views(v).getByRole("link", { name: "Balloons" }).waitFor();
    await v.end();
  });

  it("of one name are replaced, walked by arrows, and each player's own", async () => {
    const v = await visit();
    await v.signIn("/threads?importance=2");
    const save = async (name: string, word: string) => {
      await v.page.getByRole("textbox", { name: "Name for this view" }).fill(name);
      await v.page.getByRole("button", { name: word, exact: true }).click();
      await v.page.getByText(`${name} is saved.`).waitFor();
    };
    await v.page.getByRole("button", { name: "Views" }).click();
    await save("First", "Save");
    await save("Second", "Save");
    await v.page.keyboard.press("Escape");
    await v.go("/threads?channel=many-e2e");
    await shows(v, many);
    await v.page.getByRole("button", { name: "Views" }).click();
    await save("Second", "Replace");
    await expect.poll(() => views(v).getByRole("link").count()).toBe(2);
    await views(v).getByRole("link", { name: "First" }).focus();
    await v.page.keyboard.press("ArrowDown");
    expect(await v.focused()).toBe("Second");
    await v.page.keyboard.press("ArrowDown");
    expect(await v.focused()).toBe("First");
    await v.page.keyboard.press("ArrowUp");
    await v.page.keyboard.press("Enter");
    await v.page.waitForURL(/channel=many-e2e/);
    await v.page.getByRole("button", { name: "Sign out" }).click();
    await v.signIn("/threads", secret);
    await v.page.getByRole("heading", { name: "No threads yet" }).waitFor();
    await v.page.keyboard.press("v");
    await v.page.getByText("No views yet.").waitFor();
    await v.end();
  });

  it("that this browser keeps are checked: what is none is told and left out", async () => {
    const v = await visit();
    await v.signIn("/threads?importance=2");
    await v.page.getByRole("button", { name: "Views" }).click();
    await v.page.getByRole("textbox", { name: "Name for this view" }).fill("Mine");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("Mine is saved.").waitFor();
    await v.page.evaluate(() => {
      const key = Object.keys(localStorage).find((k) => k.startsWith("threads.views:")) ?? "";
      const kept = JSON.parse(localStorage.getItem(key) ?? "") as { views: unknown[] };
      kept.views.push({ name: 1 }, { name: "Odd", query: "evil=%3Cscript%3E&importance=2" });
      localStorage.setItem(key, JSON.stringify(kept));
    });
    await v.page.reload();
    await rows(v).first().waitFor();
    await v.page.keyboard.press("v");
    await v.page.getByText("Not all that this browser kept can be read").waitFor();
    expect(await views(v).getByRole("link").allInnerTexts()).toEqual(["Mine", "Odd"]);
    expect(await views(v).getByRole("link", { name: "Odd" }).getAttribute("href")).toBe("/threads?importance=2");
    await v.end();
  });
});
