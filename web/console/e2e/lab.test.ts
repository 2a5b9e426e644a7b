// The lab: asking for real, and trying two settings side by side.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { narrowLooks } from "./looks";
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
const kept = () => server.sql("SELECT count(*) FROM memory.selections");
const question = "q=hotel+booking+reserva&threshold=0&limit=5";

describe("asking for context", () => {
  it("shows ranked items with the parts of their scores, and the same again from the address", async () => {
    const content = server.sql(
      "SELECT content FROM log.messages WHERE length(content) BETWEEN 40 AND 400 ORDER BY id LIMIT 1",
    );
    const v = await visit();
    await v.signIn("/context");
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    await v.page.getByText("Write what you need context for.").waitFor();
    await v.page.getByLabel("What is the context for?").fill(content.replaceAll("\n", " "));
    await v.page.getByLabel("Token budget").fill("400");
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    await v.page.getByRole("heading", { name: "Receipt" }).waitFor();
    const result = v.page.getByRole("region", { name: "Result" });
    expect(await result.locator("mark").count()).toBeGreaterThan(0);
    expect(await result.getByText("lexical").count()).toBeGreaterThan(0);
    const spent = /(\d+) of 400 tokens/.exec(await result.innerText());
    expect(Number(spent?.[1])).toBeGreaterThan(0);
    expect(Number(spent?.[1])).toBeLessThanOrEqual(400);
    const code = result.getByRole("region", { name: "Receipt" }).locator("code").first();
    const receipt = await code.innerText();
    expect(receipt).toMatch(/^[0-9a-f]{64}$/);
    await result.getByText("The receipt holds.").waitFor();
    await v.page.reload();
    await v.page.getByRole("heading", { name: "Receipt" }).waitFor();
    expect(await code.innerText()).toBe(receipt);
    await v.end();
  });

  it("computes a selection again, says if a name has changed since, and keeps its block as a beginning", async () => {
    const v = await visit();
    await v.signIn("/context?threshold=0&limit=3&q=hotel+booking+reserva");
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    await v.page.waitForURL(/selection=/);
    await v.page.getByRole("button", { name: "Compute it again" }).click();
    await v.page.getByText("It has the same receipt.").waitFor();
    const block = await v.page.locator("pre").innerText();

    await v.page.getByLabel("At most (items)").fill("5");
    await v.page.getByRole("checkbox", { name: /Keep the block of this selection/ }).check();
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    await v.page.getByText(/[1-9]\d* tokens unchanged from/).waitFor();
    expect((await v.page.locator("pre").innerText()).startsWith(block)).toBe(true);

    server.sql("UPDATE core.players SET name = name || ' II'");
    await v.page.getByRole("button", { name: "Compute it again" }).click();
    await v.page.getByText("Not identical.").waitFor();
    await v.page.getByText("Names or preferences changed:").waitFor();
    server.sql("UPDATE core.players SET name = regexp_replace(name, ' II$', '')");
    await v.page.getByRole("button", { name: "Compute it again" }).click();
    await v.page.getByText("It has the same receipt.").waitFor();
    await v.end();
  });

  it("narrows the scope to a player chosen by name", async () => {
    const [name = "", hash = ""] = server
      .sql(`SELECT p.name, p.hash FROM core.players p
        WHERE p.name IS NOT NULL AND EXISTS (SELECT FROM log.messages m WHERE m.owner_id = p.hash) ORDER BY p.hash LIMIT 1`)
      .split("|");
    const v = await visit();
    await v.signIn("/context?threshold=0&limit=20&q=hotel+booking+reserva");
    await v.page.getByRole("combobox", { name: "Players" }).fill(name);
    await v.page
      .getByRole("listbox", { name: "Players" })
      .getByRole("option")
      .first()
      .filter({ hasText: name })
      .waitFor(); // what was found before is gone
    await v.page.keyboard.press("ArrowDown");
    await v.page.keyboard.press("Enter");
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    await v.page.waitForURL(/selection=/);
    expect(new URL(v.page.url()).searchParams.getAll("player")).toEqual([hash]);
    await v.end();
  });
});

describe("trying", () => {
  it("ranks as asking does and keeps nothing; the address gives the same again, in a clean profile too", async () => {
    const before = kept();
    const v = await visit();
    await v.signIn(`/context?${question}`);
    await v.page.getByRole("button", { name: "Try it" }).click();
    await v.page.waitForURL(/try=1/);
    const result = v.page.getByRole("region", { name: "Tried, and not kept" });
    const items = result.getByRole("list", { name: "Selected, best first" }).getByRole("link");
    await items.first().waitFor();
    const first = await items.evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    expect(first).toHaveLength(5);
    expect(kept()).toBe(before);
    const address = new URL(v.page.url());
    await v.end();

    const other = await visit();
    await other.signIn(address.pathname + address.search);
    await other.page.getByRole("region", { name: "Tried, and not kept" }).waitFor();
    const again = other.page.getByRole("list", { name: "Selected, best first" }).getByRole("link");
    await again.first().waitFor();
    expect(await again.evaluateAll((all) => all.map((a) => a.getAttribute("href")))).toEqual(first);
    expect(kept()).toBe(before);
    await other.end();
  });

  it("compares two settings: says that they are identical, and what another limit or weight changes", async () => {
    const v = await visit();
    await v.signIn(`/context?${question}`);
    await v.page.getByRole("checkbox", { name: /Compare two settings/ }).check();
    await v.page.getByRole("button", { name: "Try it" }).click();
    const difference = v.page.getByRole("status", { name: "Difference" });
    await difference.getByText("Identical:").waitFor();
    await v.page.getByRole("region", { name: "Settings A" }).waitFor();

    const b = v.page.getByRole("group", { name: "Settings B" });
    await b.getByLabel("At most (items)").fill("3");
    await v.page.getByRole("button", { name: "Try it" }).click();
    await v.page.waitForURL(/limit2=3/);
    const gone = difference.getByRole("row").filter({ hasText: "left" });
    await gone.first().waitFor();
    await expect.poll(() => gone.count()).toBe(2);
    expect(await gone.first().innerText()).toContain("Enough better ones");

    await b.getByText("Other weights").click();
    await b.getByRole("combobox", { name: "Weight" }).selectOption("MIDDLE");
    await b.getByRole("button", { name: "Change it" }).click();
    await b.getByLabel("Sum that gives relevance 0.7: value").fill("0.1");
    await v.page.getByRole("button", { name: "Try it" }).click();
    await v.page.waitForURL(/w2=MIDDLE%3A0\.1/);
    await difference
      .getByRole("row")
      .filter({ hasText: /\+0\.\d{5,}/ })
      .first()
      .waitFor();
    await v.page
      .getByRole("region", { name: "Settings B" })
      .getByText(/^Policy .*\+weights$/)
      .first()
      .waitFor();

    await v.page.reload();
    await difference
      .getByRole("row")
      .filter({ hasText: /\+0\.\d{5,}/ })
      .first()
      .waitFor();
    expect(await b.getByLabel("Sum that gives relevance 0.7: value").inputValue()).toBe("0.1");
    await v.end();
  });

  it("shows the server's refusal of a weight that is out of bounds, not an empty result", async () => {
    const v = await visit();
    await v.signIn(`/context?${question}&try=1&w=RECENCY%3A7`);
    await v.page
      .getByRole("alert")
      .getByText(/7 is outside of 0 to 1/)
      .waitFor();
    await v.page.getByText("BAD_USER_INPUT").waitFor();
    await v.end(/Failed to load resource/);
  });

  it("is done by keyboard alone, in Spanish", async () => {
    const v = await visit();
    await v.signIn("/context");
    await v.page.evaluate(() => localStorage.setItem("language", "es"));
    await v.go("/context?threshold=0");
    await v.page.getByRole("heading", { name: "Laboratorio de contexto" }).waitFor();
    await v.tabTo(/^¿Para qué es el contexto\?/);
    await v.page.keyboard.type("hotel");
    await v.tabTo(/^Probar$/);
    await v.page.keyboard.press("Enter");
    await v.page.getByRole("region", { name: "Probado, sin guardar" }).waitFor();
    await v.page.getByText("Sin casi duplicados").waitFor();
    // Enter alone makes a line in the question.
    await v.go("/context?threshold=0");
    await v.tabTo(/^¿Para qué es el contexto\?/);
    await v.page.keyboard.type("hotel");
    await v.page.keyboard.press("Control+Enter");
    await v.page.getByRole("region", { name: "Probado, sin guardar" }).waitFor();
    // On a button it is that button's.
    await v.tabTo(/^Pedir contexto$/);
    await v.page.keyboard.press("Control+Enter");
    await v.page.getByRole("region", { name: "Resultado" }).waitFor();
    await v.end();
  });

  it("has no finding of axe", async () => {
    const v = await visit();
    await v.signIn(`/context?${question}&try=1&two=1&limit2=2&w=RECENCY%3A0.3`);
    const difference = v.page.getByRole("status", { name: "Difference" }).getByRole("table");
    await difference.waitFor();
    await v.page.locator("details").evaluateAll((all) => all.map((d) => d.setAttribute("open", "")));
    await v.everyLook("two tries", difference, narrowLooks);
    await v.end();
  });
});
