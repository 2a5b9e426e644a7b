// The list of threads: narrowed as the database says, and kept in the address.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Visit } from "./browser";
import { narrowLooks } from "./looks";
import type { Server } from "./server";
import { chips, many, query, rows, shows, startThreads } from "./threadlist";

let server: Server;
let browser: Browser;
let secret: string; // of a player who takes part in nothing
let one: Awaited<ReturnType<typeof startThreads>>["one"];

beforeAll(async () => {
  ({ server, browser, one, secret } = await startThreads());
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);

// The threads that hold a message of which the database says so.
const threadsWith = (condition: string): string[] =>
  server
    .sql(`SELECT DISTINCT thread_hash FROM log.messages m WHERE thread_hash IS NOT NULL AND ${condition} ORDER BY 1`)
    .split("\n")
    .filter((line) => line !== "");

describe("each filter in the address", () => {
  const cases: [string, () => string, () => string][] = [
    [
      "player",
      () => `player=${one.player.hash}`,
      () => `'${one.player.hash}' IN (owner_id, master_player) OR '${one.player.hash}' = ANY (players_id)`,
    ],
    ["sender", () => `sender=${one.player.hash}`, () => `owner_id = '${one.player.hash}'`],
    ["receiver", () => `receiver=${one.other.hash}`, () => `'${one.other.hash}' = ANY (players_id)`],
    ["leader", () => `leader=${one.other.hash}`, () => `master_player = '${one.other.hash}'`],
    [
      "who led what somebody sent",
      () => `leader=${one.other.hash}&sender=${one.player.hash}`,
      () => `master_player = '${one.other.hash}' AND owner_id = '${one.player.hash}'`,
    ],
    ["tag", () => `tag=${one.tag.hash}`, () => `'${one.tag.hash}' = ANY (hashtags)`],
    ["flag", () => `flag=${one.flag.hash}`, () => `flag_id = '${one.flag.hash}'`],
    [
      "item",
      () => `item=${one.item.hash}`,
      () => `(master_item_id = '${one.item.hash}' OR '${one.item.hash}' = ANY (item_id))`,
    ],
    ["place", () => `place=${one.place.hash}`, () => `loc_id = '${one.place.hash}'`],
    ["channel", () => "channel=telegram-e2e", () => "channel = 'telegram-e2e'"],
    ["two channels", () => "channel=telegram-e2e&channel=many-e2e", () => "channel IN ('telegram-e2e', 'many-e2e')"],
    ["importance", () => "importance=2", () => "importance = 2"],
    ["the last hour", () => "since=-1h", () => "created_at >= now() - interval '1 hour'"],
    ["moments", () => "until=2001-01-01T00:00:00Z", () => "created_at < '2001-01-01'"],
    ["words", () => "q=zeppelin", () => "content ~* '\\mzeppelin'"],
    [
      "all at once",
      () => `q=zeppelin&tag=${one.tag.hash}&place=${one.place.hash}&importance=2&since=-1h`,
      () => "content ~* '\\mzeppelin' AND importance = 2",
    ],
  ];

  it("narrows as the database says, and leaves nothing else in", async () => {
    const v = await visit();
    await v.signIn("/threads");
    for (const [name, address, condition] of cases) {
      const want = threadsWith(`(${condition()})`);
      await v.go(`/threads?${address()}`);
      if (want.length === 0) {
        await v.page.getByRole("heading", { name: "No thread matches" }).waitFor();
        continue;
      }
      await shows(v, want.length);
      await rows(v).first().waitFor();
      const links = await rows(v)
        .getByRole("link")
        .evaluateAll((all) => all.map((a) => a.getAttribute("href")?.slice("/threads/".length) ?? ""));
      expect(
        links.filter((h) => !want.includes(h)),
        name,
      ).toEqual([]);
      if (want.length <= 8) expect(links.toSorted(), name).toEqual(want);
    }
    await v.end();
  });

  it("is refused in words where it cannot be meant, and can be taken back", async () => {
    const v = await visit();
    await v.signIn("/threads?player=xyz");
    await v.page
      .getByRole("alert")
      .getByText(/player/i)
      .first()
      .waitFor();
    await chips(v).getByText("xyz").click();
    await v.page.getByText(/\d+, latest first/).waitFor();
    await v.end();
  });

  it("is the same after a reload and in a clean profile, and what is relative stays so", async () => {
    const address = `/threads?channel=telegram-e2e&since=-24h`;
    for (let i = 0; i < 2; i++) {
      const v = await visit();
      await v.signIn(address);
      await shows(v, 2);
      await v.page.reload();
      await shows(v, 2);
      expect(await v.page.getByRole("combobox", { name: "Time" }).inputValue()).toBe("-24h");
      expect(query(v).get("since")).toBe("-24h");
      await v.end();
    }
  });

  it("goes on to the end of a long list, a page at a time", async () => {
    const v = await visit();
    await v.signIn("/threads?channel=many-e2e");
    await shows(v, many);
    const list = v.page.getByRole("region", { name: "threads" });
    await expect
      .poll(async () => {
        await list.evaluate((e) => e.scrollTo(0, e.scrollHeight));
        return await v.page.getByText(`All ${many} threads`).count();
      })
      .toBe(1);
    expect(await rows(v).count()).toBeLessThan(40);
    await v.end();
  });
});

describe("the filter bar", () => {
  it("writes into the address, and shows what is set as chips to take back", async () => {
    const v = await visit();
    await v.signIn("/threads");
    await v.page.getByRole("button", { name: "Channels" }).click();
    const channels = v.page.getByRole("group", { name: "Channels" });
    await channels.getByText("Web").or(channels.getByText("webchat")).first().waitFor();
    await expect
      .poll(() => channels.getByRole("checkbox").count())
      .toBe(Number(server.sql("SELECT count(DISTINCT channel) FROM log.messages")));
    await v.accessible("the channels to choose from");
    await channels.getByRole("checkbox", { name: /^telegram-e2e 2$/ }).check();
    await shows(v, 2);
    await v.page.getByRole("textbox", { name: "Another channel" }).fill("nowhere-e2e");
    await v.page.keyboard.press("Enter");
    await v.page.waitForURL(/channel=telegram-e2e&channel=nowhere-e2e/);
    await channels.getByRole("checkbox", { name: "nowhere-e2e" }).uncheck();
    await v.page.keyboard.press("Escape");
    await v.page.getByRole("button", { name: "1 channel" }).waitFor();
    await v.page.getByRole("combobox", { name: "Importance" }).selectOption("2");
    await shows(v, 1);
    await v.page.getByRole("combobox", { name: "Time" }).selectOption({ label: "Last 24 hours" });
    await v.page.getByRole("searchbox", { name: "Words in the text" }).fill("zeppelin");
    await v.page.waitForURL(/q=zeppelin/);
    await v.page.getByRole("button", { name: "More filters" }).click();
    for (const [label, { hash: wanted, name }] of [
      ["Players", one.player],
      ["Tags", one.tag],
      ["Flags", one.flag],
      ["Items", one.item],
      ["Places", one.place],
      ["Sent by", one.player],
      ["Received by", one.other],
      ["Led by", one.other],
    ] as const) {
      await v.page.getByRole("combobox", { name: label, exact: true }).fill(wanted);
      const options = v.page.getByRole("listbox", { name: label, exact: true }).getByRole("option");
      await expect.poll(() => options.count()).toBe(1); // before it is searched for, there are others
      await v.page.keyboard.press("ArrowDown");
      await v.page.keyboard.press("Enter");
      await v.page.waitForURL(new RegExp(wanted));
      await v.page.keyboard.press("Escape");
      await chips(v).filter({ hasText: name }).first().waitFor();
    }
    await shows(v, 1);
    await expect.poll(() => chips(v).count()).toBe(12);
    expect(query(v).get("since")).toBe("-24h");
    await chips(v).filter({ hasText: "Words: zeppelin" }).click();
    await expect.poll(() => chips(v).count()).toBe(11);
    expect(await v.focused()).toMatch(/Remove the filter Channel: telegram-e2e/);
    await v.page.keyboard.press("Enter");
    await expect.poll(() => query(v).has("channel")).toBe(false);
    await v.page.getByRole("button", { name: "Clear the filter" }).click();
    await expect.poll(() => query(v).size).toBe(0);
    await expect.poll(() => chips(v).count()).toBe(0);
    await v.end();
  });

  it("says which filters leave nothing, and clears them", async () => {
    const v = await visit();
    await v.signIn("/threads?q=zeppelin&importance=1");
    await v.page.getByRole("heading", { name: "No thread matches" }).waitFor();
    const reasons = v.page.getByRole("main").getByRole("list", { name: "Filters that are set" }).last();
    expect(await reasons.innerText()).toMatch(/Words: zeppelin\s+Importance: 1/);
    await expect.poll(() => v.page.getByText("No threads yet").count()).toBe(0);
    await v.page.getByRole("button", { name: "Clear the filter" }).last().click();
    await rows(v).first().waitFor();
    expect(query(v).size).toBe(0);
    await v.end();
  });

  it("is not what makes a list empty of which nothing may be seen", async () => {
    const v = await visit();
    await v.signIn("/threads", secret);
    await v.page.getByRole("heading", { name: "No threads yet" }).waitFor();
    await v.page.getByText("0 that you take part in, latest first").waitFor();
    await v.end();
  });

  it("never takes a failure for nothing", async () => {
    const v = await visit();
    await v.signIn("/components");
    await v.page.route("**/graphql", (r) =>
      r.request().postData()?.includes("query Threads(") ? r.abort() : r.continue(),
    );
    await v.go("/threads?q=zeppelin");
    await v.page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
    await expect.poll(() => v.page.getByText(/No thread matches|No threads yet|0 match/).count()).toBe(0);
    await v.page.unroute("**/graphql");
    await v.page.getByRole("button", { name: "Try again" }).click();
    await shows(v, 1);
    await v.end(/Failed to load resource/);
  });

  it("is taken away as it is filtered, and asked again from a shell", async () => {
    const v = await visit();
    await v.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.base });
    await v.signIn("/threads?channel=many-e2e");
    await shows(v, many);
    await v.page.getByRole("button", { name: "Take…" }).click();
    await v.page.getByRole("button", { name: "Copy the table as CSV" }).click();
    await v.page.getByText(`${many} rows copied.`).waitFor();
    const csv = await v.page.evaluate(() => navigator.clipboard.readText());
    const lines = csv.trimEnd().split(/\r?\n/);
    expect(lines[0]).toBe("Hash,Players,Messages,Started,Last message,Last sender,Last text");
    expect(
      lines
        .slice(1)
        .map((l) => l.slice(0, 64))
        .sort(),
    ).toEqual(threadsWith("channel = 'many-e2e'"));
    await v.page.getByRole("button", { name: "Copy the request as curl" }).click();
    await v.page.getByText("Copied, with $TOKEN").waitFor();
    expect(await v.page.evaluate(() => navigator.clipboard.readText())).toContain('"channels":["many-e2e"]');
    await v.end();
  });
});

describe("axe finds nothing, and nothing is wider than the screen", () => {
  it("in any theme and width", async () => {
    const all = [...narrowLooks, { theme: "light" as const, width: 2560, height: 1200 }];
    const v = await visit();
    await v.signIn(`/threads?tag=${one.tag.hash}&channel=telegram-e2e&since=-24h`);
    await shows(v, 2);
    const item = v.page.getByRole("main").getByRole("listitem");
    await v.everyLook("threads, filtered", item, all);
    await v.page.keyboard.press("f");
    await expect.poll(() => v.focused()).toBe("Players");
    await v.page.keyboard.press("Escape");
    await v.everyLook("threads, open", v.page.getByRole("combobox", { name: "Players" }), all);
    await v.page.getByRole("button", { name: "Views" }).click();
    await v.page.getByRole("textbox", { name: "Name for this view" }).fill("Yesterday and today");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("Yesterday and today is saved.").waitFor();
    await v.everyLook("threads, views", v.page.getByText("Yesterday and today", { exact: true }), all);
    await v.go("/threads?q=nothingatall&until=-7d");
    await v.everyLook("threads, out", v.page.getByRole("heading", { name: "No thread matches" }), all);
    await v.end();
  });

  it("in Spanish", async () => {
    const v = await visit({ locale: "es-ES", width: 390, height: 844 });
    await v.page.goto(
      `${server.base}/threads?channel=telegram-e2e&since=-7d&importance=1&importance=2#token=${server.token}`,
    );
    await v.page.getByText("coinciden 2, los últimos primero").waitFor();
    const set = v.page.getByRole("list", { name: "Filtros puestos" });
    expect(await set.innerText()).toMatch(/Canal: telegram-e2e[\s\S]*Relevante o más[\s\S]*Últimos 7 días/);
    await v.page.getByRole("button", { name: "Vistas" }).click();
    await v.page.getByText("Todavía no hay vistas.").waitFor();
    await v.accessible("threads in Spanish");
    await v.end();
  });
});
