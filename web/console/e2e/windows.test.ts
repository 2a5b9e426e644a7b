// Context windows: how full, what fills them, what was rejected or compressed and why.
import { readFileSync } from "node:fs";
import type { Browser, Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { narrowLooks } from "./looks";
import { type Server, startServer } from "./server";
import { at, button, done, main, makeStay, makeWindow, saidIn, saying, stateOf, write } from "./windows";

let server: Server;
let browser: Browser;
let stay: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  stay = await makeStay(server);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);
describe("the list", () => {
  it("says how full each window is in words, and leads to it", async () => {
    const full = await makeWindow(server, { name: "to the brim", capacity: 100 });
    await write(server, full, "DECISION", "yes sir ".repeat(48).trim());
    const v = await visit();
    await v.signIn("/windows");
    const row = main(v).getByRole("article").filter({ hasText: "to the brim" });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/Full[\s\S]*of 100 tokens, 9[5-9](\.\d)?%/);
    const meter = row.getByRole("meter", { name: "Fill" });
    expect(await meter.getAttribute("aria-valuenow")).toBe(String((await stateOf(server, full)).used));
    expect(await meter.getAttribute("aria-valuetext")).toMatch(/%: Full$/);
    expect(await main(v).getByRole("article").first().innerText()).toContain("to the brim");
    await main(v).getByRole("link", { name: "A stay in Paris" }).click();
    await v.page.getByRole("heading", { name: "A stay in Paris" }).waitFor();
    await v.end();
  });

  it("counts what happened to windows, over a day or ever", async () => {
    const v = await visit();
    await v.signIn("/windows");
    await v.page.getByText("How windows do").click();
    await v.page.waitForURL(/figures=day/);
    const figure = (name: string) =>
      v.page
        .locator("dl > div")
        .filter({ has: v.page.getByText(name, { exact: true }) })
        .getByRole("definition");
    expect(await figure("Compressions").innerText()).toBe("1");
    expect(await figure("Kept out: against records").innerText()).toBe("1");
    expect(await figure("Clashes resolved").innerText()).toBe("1");
    await v.page.getByText("All the time").click();
    await v.page.waitForURL(/figures=ever/);
    await v.page.reload();
    expect(await figure("Compressions").innerText()).toBe("1");
    expect(Number.parseFloat(await figure("Quality, mean").innerText())).toBeGreaterThan(0.5);
    await v.end();
  });
});

describe("what a window holds", () => {
  it("stands in prompt order, with tokens that add up, quality in its parts, and what vouches for it", async () => {
    const v = await visit();
    await v.signIn(at(stay));
    await main(v).locator("[data-item]").first().waitFor();
    const { used, items } = await stateOf(server, stay);
    expect(
      await main(v)
        .locator("[data-item]")
        .evaluateAll((all) => all.map((e) => e.getAttribute("data-item"))),
    ).toEqual(items.map((i) => i.id));
    const groups = await main(v).getByRole("heading", { level: 3 }).allInnerTexts();
    expect(groups.map((g) => g.split(/\d/)[0]?.trim())).toEqual([
      "Instructions",
      "Goals",
      "Preferences",
      "Knowledge",
      "What was said, and results of tools",
    ]);
    const cells = await main(v)
      .getByRole("table")
      .locator("tbody tr")
      .evaluateAll((rows) => rows.map((r) => Number(r.children[2]?.textContent?.replaceAll(",", ""))));
    expect(cells.reduce((sum, n) => sum + n, 0)).toBe(used);
    const tower = main(v).locator("[data-item]").filter({ hasText: "The Eiffel Tower is in Paris" }).last();
    expect(await tower.innerText()).toContain("Verified by Eiffel Tower");
    await tower.getByText(/^Quality/).click();
    expect(await tower.getByRole("listitem").filter({ hasText: "Accuracy" }).innerText()).toMatch(/1\.00$/);
    expect(await main(v).locator("[data-item]").first().innerText()).toContain("Unverified");
    await tower.getByRole("link", { name: "Eiffel Tower" }).click();
    await v.page.waitForURL(/\/records\?record=[0-9a-f]{64}/);
    await v.end();
  });

  it("leads from a summary to what it stands for", async () => {
    const v = await visit();
    await v.signIn(at(stay));
    const summary = main(v).locator("[data-item]").filter({ hasText: "A summary:" });
    await summary.getByText(/A summary:/).click();
    const entries = summary.locator("[data-entry]");
    await entries.first().waitFor();
    expect(await entries.first().innerText()).toMatch(/In note \d+ somebody/);
    await v.end();
  });
});

describe("what was done to it", () => {
  it("is drawn with the levels as lines, and stands in a table for who cannot see that", async () => {
    const v = await visit();
    await v.signIn(at(stay, "history"));
    await v.page.locator("canvas").waitFor();
    await v.page.getByText("The same as a table").click();
    const rows = v.page.getByRole("table", { name: "How full it was" }).locator("tbody tr");
    await expect
      .poll(() => rows.count())
      .toBe(
        Number(
          server.sql(
            "SELECT count(*) FROM memory.window_operations o JOIN memory.windows w ON w.id = o.window_id WHERE w.name = 'A stay in Paris'",
          ),
        ),
      );
    expect(await rows.first().innerText()).toMatch(/Write\s/);
    await v.end();
  });

  it("says what was rejected, with both texts, the record and the judge; an administrator overrules it", async () => {
    const v = await visit();
    await v.signIn(at(stay, "history"));
    const rejected = done(v, "REJECTED");
    await rejected.first().waitFor();
    await expect.poll(() => rejected.count()).toBe(1);
    const text = await rejected.innerText();
    expect(text).toMatch(/Write\s+Rejected[\s\S]*Why it was rejected:/);
    expect(text).toMatch(/Poisoning\s+it did not enter[\s\S]*The record: Eiffel Tower/);
    expect(text).toMatch(
      /They contradict each other\s+says the built-in rules\s+What was written\s+The Eiffel Tower is in London\s+What the record Eiffel Tower says\s+The Eiffel Tower is in Paris/,
    );
    await rejected.getByText(/^Quality/).click();
    expect(await rejected.getByRole("listitem").filter({ hasText: "Accuracy" }).innerText()).toMatch(/0\.10$/);

    await button(rejected, "Overrule…").click();
    const dialog = v.page.getByRole("dialog");
    expect(await dialog.innerText()).toContain("What was rejected enters the window:");
    expect(await button(dialog, "Overrule").isDisabled()).toBe(true);
    await v.page.keyboard.press("Escape");
    expect(await saidIn(server, stay)).not.toContain("The Eiffel Tower is in London");
    await button(rejected, "Overrule…").click();
    await dialog.getByLabel("Reason, for the record").fill("There is a copy in London.");
    await button(dialog, "Overrule").click();
    await done(v, "OVERRULED").waitFor();
    expect(await done(v, "OVERRULED").innerText()).toContain("There is a copy in London.");
    expect(await saidIn(server, stay)).toContain("The Eiffel Tower is in London");
    await expect.poll(() => rejected.count()).toBe(0);
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.id)).toBe("main");
    await v.end();
  });

  it("says what clashed, and brings back what left", async () => {
    const id = await makeWindow(server, { name: "clash" });
    const observedAt = new Date(Date.now() - 48 * 3_600_000).toISOString();
    await write(server, id, "USER_PREFERENCE", "User prefers budget hotels", { observedAt });
    await write(server, id, "USER_PREFERENCE", "User prefers luxury 5-star hotels");
    const v = await visit();
    await v.signIn(at(id, "history"));
    const clash = done(v, "SUPERSEDED");
    await clash.waitFor();
    const text = await clash.innerText();
    expect(text).toMatch(/An older item left[\s\S]*Clash\s+the older item left\s+about 1 item/);
    expect(text).toMatch(
      /What was written\s+User prefers luxury 5-star hotels\s+What the window held\s+User prefers budget hotels/,
    );
    await button(clash, "Overrule…").click();
    const dialog = v.page.getByRole("dialog");
    expect(await dialog.innerText()).toMatch(/What left comes back into the window:\s+User prefers budget hotels/);
    await dialog.getByLabel("Reason, for the record").fill("Both, for different journeys.");
    await button(dialog, "Overrule").click();
    await done(v, "OVERRULED").waitFor();
    expect((await saidIn(server, id)).sort()).toEqual([
      "User prefers budget hotels",
      "User prefers luxury 5-star hotels",
    ]);
    await v.end();
  });

  it("shows a compression step by step, and what left beside the summary that took its place", async () => {
    const v = await visit();
    await v.signIn(at(stay, "history"));
    const compressed = done(v, "COMPRESSED");
    await compressed.first().waitFor();
    expect(await compressed.innerText()).toMatch(/And which of the hotels has a view of the river\?/);
    expect(await compressed.innerText()).toMatch(/[\d,]+ → [\d,]+ tokens, [\d.]+ times smaller, in \d+ ms/);
    const steps = compressed.locator("[data-step]");
    expect(await steps.first().innerText()).toMatch(/^Trim the oldest \d+ tokens? freed/);
    const summarised = steps.filter({ hasText: "the built-in summariser" }).first();
    await summarised.waitFor();
    for (const open of await steps.getByText(/^Before and after:/).all()) await open.click();
    await compressed.locator("[data-entry]").first().waitFor();
    expect(await compressed.locator("[data-entry]").first().innerText()).toMatch(/In note 0 somebody/);
    expect(await steps.filter({ hasText: "After: what took its place" }).allInnerTexts()).toContainEqual(
      expect.stringMatching(/After: what took its place\s+\d+ tokens\s+[\s\S]*note \d+/),
    );
    await v.end();
  });

  it("names what distracts and what did not fit", async () => {
    const id = await makeWindow(server, { name: "long talk", capacity: 2400 });
    for (let n = 0; n < 21; n++) await write(server, id, n % 2 ? "ASSISTANT_MESSAGE" : "USER_MESSAGE", saying(n));
    const tiny = await makeWindow(server, { name: "tiny", capacity: 16 });
    await write(server, tiny, "GOAL", saying(1)).catch(() => null);
    const v = await visit();
    await v.signIn(at(id, "history"));
    await main(v).getByText("the oldest messages were summarised").waitFor();
    expect(await main(v).locator("li[data-failure=DISTRACTION]").innerText()).toMatch(/^Distraction/);
    await v.go(at(tiny, "history"));
    await done(v, "EXCEEDED").waitFor();
    expect(await done(v, "EXCEEDED").innerText()).toMatch(/Did not fit\s+Nothing changed[\s\S]*still 0 tokens/);
    await v.end();
  });
});

it("agents see their own windows, and overrule nobody", async () => {
  const player = server.sql("SELECT hash FROM core.players WHERE namespace = 'ply' ORDER BY hash LIMIT 1");
  const token = async (...scopes: string[]) =>
    (await server.makeToken({ kind: "AGENT", player, scopes, note: scopes.join(" ") })).secret;
  const whole = await token("context:select", "memory:write", "log:read");
  const id = await makeWindow(server, { name: "an agent’s own", task: "Visit the Eiffel Tower" }, whole);
  await write(server, id, "KNOWLEDGE", "The Eiffel Tower is in London");
  await write(server, id, "KNOWLEDGE", "The Eiffel Tower is in Paris");
  const v = await visit();
  await v.signIn("/windows", whole);
  await main(v).getByRole("article").first().waitFor();
  await expect.poll(() => main(v).getByRole("article").count()).toBe(1);
  await v.go(at(id, "history"));
  await done(v, "REJECTED").waitFor();
  await expect.poll(() => button(v, "Overrule…").count()).toBe(0);
  await v.go(at(stay));
  await v.page.getByRole("heading", { name: "There is no such window" }).waitFor();
  await v.end();

  const w = await visit();
  await w.signIn(at(id), await token("context:select"));
  await main(w).locator("[data-item]").waitFor();
  await expect.poll(() => button(w, "Write…").count()).toBe(0);
  expect(
    await main(w)
      .getByText(/Verified|Unverified/)
      .count(),
  ).toBe(0);
  await w.end();

  const x = await visit();
  await x.signIn(at(id), await token("log:read"));
  await x.page.getByText("It needs a token with the scope context:select, which yours lacks.").waitFor();
  await x.end();
});

it("takes away what fills it", async () => {
  const v = await visit();
  await v.signIn(at(stay));
  const head = main(v).locator("div", { has: v.page.getByRole("heading", { name: "What fills it" }) });
  const [download] = await Promise.all([
    v.page.waitForEvent("download"),
    (async () => {
      await head.last().getByRole("button", { name: "Take…" }).click();
      await button(v, "Download the table as JSON").click();
    })(),
  ]);
  const rows = JSON.parse(readFileSync(await download.path(), "utf8")) as { type: string; tokens: number }[];
  const used = rows.map((r) => r.tokens).reduce((a, b) => a + b, 0);
  expect(used).toBe((await stateOf(server, stay)).used);
  await v.end();
});

it("takes operations away, rejected ones with what they would have said", async () => {
  const v = await visit();
  await v.signIn(at(stay, "history"));
  await main(v).locator("article[data-kind]").first().waitFor();
  const [download] = await Promise.all([
    v.page.waitForEvent("download"),
    (async () => {
      await button(v, "Take…").click();
      await button(v, "Download the table as JSON").click();
    })(),
  ]);
  const rows = JSON.parse(readFileSync(await download.path(), "utf8")) as object[];
  expect(rows.length).toBeGreaterThan(8);
  expect(rows).toContainEqual(expect.objectContaining({ kind: "WRITE", content: "The Eiffel Tower is in London" }));
  await v.end();
});

it("goes by keyboard alone, in Spanish", async () => {
  const v = await visit({ locale: "es-ES" });
  await v.signIn("/threads");
  await v.page.keyboard.press("g");
  await v.page.keyboard.press("w");
  await v.page.getByRole("heading", { name: "Ventanas de contexto" }).waitFor();
  await v.tabTo(/^A stay in Paris$/);
  await v.page.keyboard.press("Enter");
  await main(v)
    .getByText("Llenado")
    .or(main(v).getByRole("meter", { name: "Llenado" }))
    .first()
    .waitFor();
  await v.tabTo(/^Lo que tiene$/);
  await v.page.keyboard.press("ArrowRight");
  await v.page.waitForURL(/show=history/);
  await main(v).locator("article[data-kind]").first().waitFor();
  await v.tabTo(/^Lo mismo como tabla$/);
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("table").waitFor();
  await v.end();
});

it("has no finding of axe", async () => {
  const v = await visit();
  await v.signIn("/windows?figures=day");
  await v.everyLook("the list", v.page.getByRole("definition"), narrowLooks);
  const scenes: [string, () => Locator][] = [
    ["/windows?new", () => v.page.getByRole("complementary").locator("form")],
    [at(stay), () => main(v).locator("[data-item]")],
    [at(stay, "history"), () => main(v).locator("article[data-kind]")],
    [at(stay, "scratchpad"), () => main(v).locator("[data-entry]")],
    [at(stay, "tools"), () => main(v).getByRole("search")],
    [`${at(stay)}?write`, () => v.page.getByRole("complementary").locator("form")],
  ];
  for (const [path, shown] of scenes) {
    await v.go(path);
    await shown().first().waitFor();
    await v.page.locator("details").evaluateAll((all) => all.map((d) => d.setAttribute("open", "")));
    await v.everyLook(path, shown(), narrowLooks);
  }
  await v.end();
});
