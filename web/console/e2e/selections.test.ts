// Selections that were kept: found in their list, read from their receipts, explained and computed again.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { narrowLooks } from "./looks";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;
let admins: Kept; // an administrator's
let players: Kept & { player: string; name: string; secret: string };

type Kept = {
  id: string;
  receipt: string;
  rendered: string;
  items: { hash: string }[];
  dropped: { hash: string; reason: string }[];
};

const ask = async (query: string, token?: string): Promise<Kept> => {
  const text =
    "mutation ($i: ContextRequestInput!) { requestContext(input: $i) { id receipt rendered items { hash } dropped { hash reason } } }";
  const input = { query, threshold: 0.3, limit: 4, tokenBudget: 500 };
  return (await server.ask<{ requestContext: Kept }>(text, { i: input }, token)).requestContext;
};

beforeAll(async () => {
  server = await startServer();
  browser = await startBrowser();
  const [player = "", name = ""] = server
    .sql(`SELECT p.hash, p.name FROM core.players p WHERE p.name IS NOT NULL
      AND EXISTS (SELECT FROM log.messages m WHERE m.owner_id = p.hash) ORDER BY p.hash LIMIT 1`)
    .split("|");
  const { secret } = await server.makeToken({ player, kind: "CLIENT", scopes: ["log:read", "context:select"] });
  players = { ...(await ask("hotel of a player", secret)), player, name, secret };
  admins = await ask("hotel booking reserva");
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);
const at = ({ id }: Kept) => `/selections/${encodeURIComponent(id)}`;

describe("the list", () => {
  it("has the latest first, with who asked, and narrows by player and time, as the address says", async () => {
    const v = await visit();
    await v.signIn("/selections");
    const rows = v.page.getByRole("region", { name: "selections" }).getByRole("listitem");
    await rows.first().waitFor();
    expect(await rows.nth(0).innerText()).toMatch(/hotel booking reserva[\s\S]*an administrator/);
    expect(await rows.nth(1).innerText()).toContain(players.name);
    expect(await rows.nth(1).innerText()).toContain(players.receipt.slice(0, 8));

    await v.page.getByRole("combobox", { name: "Asked by" }).fill(players.name);
    await v.page.getByRole("option").first().filter({ hasText: players.name }).waitFor();
    await v.page.keyboard.press("ArrowDown");
    await v.page.keyboard.press("Enter");
    await v.page.waitForURL(new RegExp(`player=${players.player}`));
    await v.page.getByText("1 selection in all").waitFor();
    await v.page.getByText("Last 7 days").click();
    await v.page.waitForURL(/when=week/);
    await v.page.getByText("1 selection in all").waitFor();
    await v.page.reload();
    await v.page.getByText("1 selection in all").waitFor();

    await v.go("/selections?when=dates&until=2001-01-01");
    await v.page.getByRole("heading", { name: "No selection matches" }).waitFor();
    await v.page.getByRole("button", { name: "Show all" }).click();
    await v.page.getByText("All 2 selections").waitFor();
    await v.end();
  });

  it("is of their own for players, and closed to who may not select", async () => {
    const v = await visit();
    await v.signIn("/selections", players.secret);
    await v.page.getByText("1 of yours, latest first").waitFor();
    await expect.poll(() => v.page.getByRole("combobox", { name: "Asked by" }).count()).toBe(0);
    await v.go(at(admins));
    await v.page.getByRole("heading", { name: "This selection is not kept here" }).waitFor();
    await v.end();
    const { secret } = await server.makeToken({ player: players.player, kind: "CLIENT", scopes: ["log:read"] });
    const w = await visit();
    await w.signIn("/selections", secret);
    await w.page.getByText("It needs a token with the scope context:select, which yours lacks.").waitFor();
    await w.end();
  });

  it("says that it failed, and never that there are none", async () => {
    const v = await visit();
    await v.signIn("/components");
    await v.page.route("**/graphql", (r) =>
      r.request().postData()?.includes("query Selections(") ? r.abort() : r.continue(),
    );
    await v.go("/selections");
    await v.page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
    await expect.poll(() => v.page.getByText("No selections yet").count()).toBe(0);
    await v.page.unroute("**/graphql");
    await v.page.getByRole("button", { name: "Try again" }).click();
    await v.page.getByText("All 2 selections").waitFor();
    await v.end(/Failed to load resource/);
  });
});

describe("a selection", () => {
  it("tells of what was dropped its reason, and a click on the parts of its score", async () => {
    const [dropped] = admins.dropped;
    if (!dropped) throw new Error("nothing was dropped");
    const v = await visit({ locale: "es-ES" });
    await v.go(`${at(admins)}#token=${server.token}`);
    await v.page.getByRole("heading", { name: /^Descartados/ }).click();
    await v.page.getByRole("button", { name: `${dropped.hash.slice(0, 8)}: Partes de su puntuación` }).click();
    await v.page.waitForURL(new RegExp(`why=${dropped.hash}`));
    const why = v.page.getByRole("region", { name: "¿Por qué no?" });
    await why.getByRole("list", { name: "Partes de la puntuación" }).waitFor();
    await expect.poll(() => why.getByRole("list", { name: "Partes de la puntuación" }).count()).toBe(1);
    await v.end();
  });

  it("is read from its receipt, with its stages, items and block to the byte", async () => {
    const v = await visit();
    await v.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.base });
    for (const kept of [admins, players]) {
      await v.signIn(at(kept));
      await v.page.getByText("The receipt holds.").waitFor();
      await v.page.getByText("The block is the one it covers.").waitFor();
    }
    await v.go(at(admins));
    const stages = v.page.locator("li[data-stage]");
    await stages.first().waitFor();
    await expect.poll(() => stages.count()).toBe(7);
    expect(await stages.last().innerText()).toMatch(new RegExp(`Selected[\\s\\S]*→ ${admins.items.length}`));
    const items = v.page.getByRole("list", { name: "Selected, best first" });
    await expect.poll(() => items.locator("> li").count()).toBe(admins.items.length);
    expect(await items.locator("mark").count()).toBeGreaterThan(0);
    expect(await items.first().innerText()).toMatch(/=\s+0\.\d{10,}/); // to the last digit
    await v.page.getByRole("button", { name: "Copy the block" }).click();
    await v.page.getByText("Copied").waitFor();
    expect(await v.page.evaluate(() => navigator.clipboard.readText())).toBe(admins.rendered);
    await items.locator(`a[href="/messages/${admins.items[0]?.hash}"]`).click();
    await v.page.waitForURL(/\/messages\/|\/threads\/|\/sessions\//);
    await v.end();
  });

  it("that was changed in the database is a mismatch, whatever the server says", async () => {
    const v = await visit();
    const change = (by: string) =>
      server.sql(`SET session_replication_role = replica;
      UPDATE memory.selections SET tokens = tokens ${by} WHERE receipt = '${admins.receipt}'`);
    change("+ 1");
    try {
      await v.signIn(at(admins));
      await v.page.getByRole("alert").getByText("MISMATCH: this is not the receipt of these bytes.").waitFor();
      await v.page.getByText("Computed by this browser").waitFor();
      await v.accessible("a mismatch");
    } finally {
      change("- 1");
    }
    await v.page.reload();
    await v.page.getByText("The receipt holds.").waitFor();
    await v.end();
  });

  it("tells why something was not selected, by its hash and by what it says", async () => {
    const v = await visit();
    const lost = admins.dropped[0];
    await v.signIn(`${at(admins)}?why=${lost?.hash}`);
    const why = v.page.getByRole("region", { name: "Why not?" });
    const verdict = why.getByRole("list", { name: "What became of it" }).locator("> li");
    await verdict.getByText(/^lost at: /).waitFor();
    await expect.poll(() => verdict.count()).toBe(1);
    expect(await verdict.getByRole("link").first().getAttribute("href")).toContain(lost?.hash);

    const field = why.getByRole("textbox");
    await field.fill("ab".repeat(32));
    await v.page.keyboard.press("Enter");
    await verdict.getByText("Unknown, or not to be seen by who asked").waitFor();

    await field.fill("hotel");
    await v.page.keyboard.press("Enter");
    await v.page.waitForURL(/why=hotel/);
    await verdict
      .filter({ hasText: /lost at|It was selected/ })
      .first()
      .waitFor();
    await field.fill(admins.items[0]?.hash ?? "");
    await v.page.keyboard.press("Enter");
    await verdict.getByText("It was selected", { exact: true }).waitFor();
    await verdict.getByText("item 1").waitFor();
    await v.end();
  });

  it("is computed again: identical then, with another weight not, and what differs is shown", async () => {
    const v = await visit();
    await v.signIn(at(admins));
    const replay = v.page.getByRole("region", { name: "Replay" });
    await replay.getByRole("button", { name: "Compute it again" }).click();
    await replay.getByText("It has the same receipt.").waitFor();
    await replay.getByRole("combobox", { name: "Weight" }).selectOption("MIDDLE");
    await replay.getByRole("button", { name: "Change it" }).click();
    const value = replay.getByLabel("Sum that gives relevance 0.7: value");
    expect(await value.getAttribute("min")).toBe("0.01");
    await value.fill("0.1");
    await replay.getByRole("button", { name: "Compute it again" }).click();
    await v.page.waitForURL(/rw=MIDDLE%3A0\.1/);
    await replay.getByText("Not identical.").waitFor();
    const rows = replay.getByRole("table").getByRole("row");
    await rows.nth(1).waitFor();
    expect(await rows.nth(1).innerText()).toMatch(/came in|left|moved|other score/);
    await v.page.reload();
    await replay.getByText("Not identical.").waitFor();
    await replay.getByText("as it stands today", { exact: true }).click();
    await replay.getByRole("button", { name: "Compute it again" }).click();
    await v.page.waitForURL(/replay=now/);
    await replay
      .getByText(/identical\./i)
      .first()
      .waitFor();
    await v.end();
  });

  it("is opened and asked by keyboard alone, in Spanish", async () => {
    const v = await visit();
    await v.signIn("/components");
    await v.page.evaluate(() => localStorage.setItem("language", "es"));
    await v.go("/selections");
    await v.page.getByRole("heading", { name: "Selecciones" }).waitFor();
    await v.page.getByText("hotel booking reserva").waitFor();
    await v.tabTo(/^hotel booking reserva/);
    await v.page.keyboard.press("Enter");
    await v.page.getByText("El recibo es correcto.").waitFor();
    await v.tabTo(/^Hash de un mensaje o apunte/);
    await v.page.keyboard.type("ab".repeat(32));
    await v.page.keyboard.press("Enter");
    await v.page.getByText("Desconocido, o no lo veía quien preguntó").waitFor();
    await v.end();
  });

  it("has no finding of axe", async () => {
    const v = await visit();
    await v.signIn("/selections?when=dates");
    await v.everyLook("selections", v.page.getByText("All 2 selections"), narrowLooks);
    await v.go(`${at(admins)}?why=hotel&replay=then&rw=MIDDLE%3A0.1`);
    await v.page.getByRole("list", { name: "What became of it" }).waitFor();
    const replay = v.page.getByRole("region", { name: "Replay" }).getByRole("table");
    await replay.waitFor();
    await v.page.locator("details").evaluateAll((all) => all.map((d) => d.setAttribute("open", "")));
    await v.everyLook("a selection", replay, narrowLooks);
    await v.end();
  });
});

// Last: from here on there are more than the others count on.
describe("a long list", () => {
  it("goes on to its end, a page at a time", async () => {
    server.sql(`SET session_replication_role = replica;
      INSERT INTO memory.selections SELECT (jsonb_populate_record(s, jsonb_build_object(
        'id', gen_random_uuid(), 'created_at', s.created_at - n * interval '1 day'))).*
      FROM memory.selections s, generate_series(1, 60) n WHERE s.receipt = '${admins.receipt}'`);
    const v = await visit();
    await v.signIn("/selections");
    await v.page.getByText("62 that somebody asked for, latest first").waitFor();
    const list = v.page.getByRole("region", { name: "selections" });
    const end = v.page.getByText("All 62 selections");
    await expect
      .poll(
        async () => {
          await list.evaluate((e) => e.scrollTo(0, e.scrollHeight));
          return await end.count();
        },
        { timeout: 30_000 },
      )
      .toBe(1);
    expect(await list.getByRole("listitem").count()).toBeLessThan(40);
    await v.go("/selections?when=month");
    await v.page.getByText(/^(31|32) that somebody asked for/).waitFor();
    await v.end();
  });
});
