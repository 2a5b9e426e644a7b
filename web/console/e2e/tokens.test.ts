import { execFileSync } from "node:child_process";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { narrow, wide } from "./looks";
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
const inDays = (n: number) => new Date(Date.now() + n * 86_400_000);

// A player of the sample who has a name.
function player(n: number): { name: string; hash: string } {
  const row = server.sql(
    `SELECT name, hash FROM core.players WHERE name IS NOT NULL AND key IS NOT NULL ORDER BY hash OFFSET ${n} LIMIT 1`,
  );
  const [name = "", hash = ""] = row.split("|");
  return { name, hash };
}

const rows = (v: Visit) => v.page.getByRole("region", { name: "tokens", exact: true }).getByRole("listitem");
const row = (v: Visit, note: string) => rows(v).filter({ hasText: note });
const panel = (v: Visit) => v.page.getByRole("complementary");

async function choose(v: Visit, name: string): Promise<void> {
  await panel(v).getByRole("combobox", { name: "Player" }).fill(name);
  await v.page.getByRole("option", { name }).first().click();
}

describe("making a token", () => {
  it("shows the secret once, with a command that works", async () => {
    const { name, hash } = player(0);
    const v = await visit();
    await v.signIn("/tokens");
    await v.page.getByRole("button", { name: "New token" }).click();
    await choose(v, name);
    await panel(v)
      .getByRole("checkbox", { name: /^log:append/ })
      .uncheck();
    await panel(v).getByLabel("Days until it ends").fill("7");
    await panel(v).getByLabel("Note").fill("reads for the shop window");
    await panel(v).getByRole("button", { name: "Make the token" }).click();
    await panel(v).getByText("This is shown now and never again.").waitFor();
    const secret = await panel(v).locator("[data-secret] code").first().innerText();
    expect(secret).toMatch(/^cmagt_[0-9A-Za-z]{49}$/);

    const command = await panel(v).locator("pre").innerText();
    expect(execFileSync("sh", ["-c", command], { encoding: "utf8", stdio: "pipe" })).toContain('"data":{"threads"');
    const shown = await row(v, "reads for the shop window").innerText();
    expect(shown).toContain(name);
    expect(shown).toMatch(/log:read\s+context:select\s+memory:write\s+verify/);
    const days = "round(extract(epoch FROM expires_at - created_at) / 86400)";
    expect(server.sql(`SELECT player, ${days} FROM auth.tokens WHERE note = 'reads for the shop window'`)).toBe(
      `${hash}|7`,
    );

    await v.page.keyboard.press("Escape"); // a key that means something else does not take it away
    await panel(v).getByText("This is shown now and never again.").waitFor();
    await panel(v).getByRole("button", { name: "I have copied it" }).click();
    await panel(v).waitFor({ state: "detached" });
    await expect.poll(() => v.focused()).toBe("New token");
    expect(await v.page.content()).not.toContain(secret);
    expect(await v.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain("cmagt_");
    await v.end();
  });

  it("copies the secret to the clipboard", async () => {
    const v = await visit();
    await v.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.base });
    await v.signIn("/tokens?new");
    await panel(v).getByRole("button", { name: "Myself" }).click();
    await panel(v).getByRole("button", { name: "Make the token" }).click();
    await panel(v).getByRole("button", { name: "Copy the token" }).click();
    await panel(v).getByRole("button", { name: "Copied", exact: true }).waitFor();
    const secret = await panel(v).locator("[data-secret] code").first().innerText();
    expect(await v.page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await v.end();
  });

  it("explains each kind, and begins with its usual scopes and end", async () => {
    const v = await visit();
    await v.signIn("/tokens?new");
    await panel(v).getByRole("radio", { name: /^Hook/ }).check();
    await expect.poll(() => panel(v).getByText("A program that only delivers events").count()).toBe(1);
    const checked = panel(v).locator('input[type="checkbox"]:checked');
    await expect.poll(() => checked.count()).toBe(1);
    await panel(v)
      .getByRole("radio", { name: /^Administrator/ })
      .check();
    await expect.poll(() => checked.count()).toBe(8);
    expect(await panel(v).getByLabel("Days until it ends").inputValue()).toBe("30");
    await panel(v)
      .getByRole("checkbox", { name: /^erase/ })
      .uncheck();
    await panel(v).getByRole("button", { name: "The usual of administrators" }).click();
    await expect.poll(() => checked.count()).toBe(8);
    await v.end();
  });

  it("says beside each field what is wrong with it, and what the server says of it", async () => {
    const v = await visit();
    await v.page.clock.install({ time: Date.now() + 3 * 86_400_000 }); // a clock that is three days ahead
    await v.signIn("/tokens?new");
    await panel(v).getByLabel("Note").fill("x".repeat(257));
    await panel(v).getByLabel("Days until it ends").fill("367");
    await panel(v).getByRole("button", { name: "Make the token" }).click();
    await panel(v).getByText("Choose whom it stands for.").waitFor();
    await panel(v).getByText("Whole days, from 1 to 366.").waitFor();
    await panel(v).getByText("Has 257 bytes; at most 256 are kept.").waitFor();
    expect(await v.focused()).toBe("Player");
    await v.accessible("a form with errors");

    await panel(v).getByRole("button", { name: "Myself" }).click();
    await panel(v).getByLabel("Note").fill("at most a year");
    await panel(v).getByLabel("Days until it ends").fill("366");
    await panel(v).getByRole("button", { name: "Make the token" }).click();
    const end = panel(v).getByLabel("Days until it ends");
    await expect.poll(() => end.getAttribute("aria-invalid")).toBe("true");
    const described = await end.getAttribute("aria-describedby");
    expect(await panel(v).locator(`[id="${described}"]`).innerText()).toContain("by the database's clock");
    expect(server.sql("SELECT count(*) FROM auth.tokens WHERE note = 'at most a year'")).toBe("0");
    await v.end();
  });

  it("describes a new player on the way, and offers one who has the key instead of changing them", async () => {
    const { hash } = player(1);
    const [key = "", namespace = ""] = server
      .sql(`SELECT key, upper(namespace::text) FROM core.players WHERE hash = '${hash}'`)
      .split("|");
    const before = server.sql("SELECT string_agg(name, ',' ORDER BY hash) FROM core.players");
    const v = await visit();
    await v.signIn("/tokens?new");
    await panel(v).getByRole("button", { name: "Describe a new player…" }).click();
    await panel(v).getByLabel("Name").fill("Somebody else");
    await panel(v).getByLabel("Key").fill(key);
    await panel(v).getByLabel("Whose").selectOption(namespace);
    await panel(v).getByLabel("Whose").press("Control+Enter"); // saves the player, and makes no token
    await panel(v).getByText("There is a player with this key").waitFor();
    await v.page.keyboard.press("Tab");
    await panel(v).getByRole("button", { name: "Save the player" }).click();
    await panel(v).getByText("There is a player with this key").waitFor();
    expect(server.sql("SELECT string_agg(name, ',' ORDER BY hash) FROM core.players")).toBe(before);

    await panel(v).getByLabel("Name").fill("Night porter");
    await panel(v).getByLabel("Key").fill("night-porter");
    await panel(v).getByLabel("Whose").selectOption("PLY");
    await panel(v).getByLabel("Key").press("Enter");
    await panel(v)
      .getByRole("button", { name: /^Remove .* from Player$/ })
      .waitFor();
    await panel(v).getByText("Night porter").waitFor();
    await panel(v).getByLabel("Note").fill("at night");
    await panel(v).getByRole("button", { name: "Make the token" }).click();
    await panel(v).getByText("Agent of Night porter").waitFor();
    await v.end();
  });

  it("takes a whole hash that nobody has described", async () => {
    const hash = "5e".repeat(32);
    const v = await visit();
    await v.signIn("/tokens?new");
    await panel(v).getByRole("combobox", { name: "Player" }).fill(hash);
    await v.page.getByRole("option", { name: /^Hash 5e5e5e5e/ }).waitFor();
    await v.page.keyboard.press("Enter");
    await panel(v).getByText("Nobody has described a player with this hash.").waitFor();
    await panel(v).getByRole("button", { name: "Describe this player…" }).waitFor();
    await panel(v).getByRole("button", { name: "Make the token" }).click();
    await panel(v).getByText("This is shown now and never again.").waitFor();
    expect(server.sql(`SELECT count(*) FROM auth.tokens WHERE player = '${hash}'`)).toBe("1");
    await v.end();
  });
});

describe("the list", () => {
  it("says of each token whose it is, and when it was last used", async () => {
    const of = player(2);
    const used = await server.makeToken({ kind: "CLIENT", player: of.hash, note: "was used" });
    await server.ask("{ __typename }", {}, used.secret);
    await server.makeToken({ kind: "HOOK", player: of.hash, note: "was not" });
    const v = await visit();
    await v.signIn(`/tokens?player=${of.hash}`);
    await row(v, "was not").waitFor();
    expect(await row(v, "was not").innerText()).toMatch(/Hook[\s\S]*events:ingest[\s\S]*Never used[\s\S]*Made by/);
    await expect
      .poll(() => server.sql("SELECT last_used_at IS NOT NULL FROM auth.tokens WHERE note = 'was used'"), {
        timeout: 30_000,
      })
      .toBe("t");
    await v.page.reload();
    await row(v, "was used").getByText("Last used just now").waitFor();
    await v.end();
  });

  it("warns before a token ends", async () => {
    const of = player(2);
    await server.makeToken({ kind: "HOOK", player: of.hash, note: "ends soon", expiresAt: inDays(30) });
    await server.makeToken({ kind: "HOOK", player: of.hash, note: "goes on" });
    const v = await visit();
    await v.page.clock.install({ time: inDays(26.9) });
    await v.signIn(`/tokens?player=${of.hash}`);
    await row(v, "ends soon").getByText("Expires soon: in 3 days").waitFor();
    await expect.poll(() => row(v, "goes on").getByText("Expires soon").count()).toBe(0);
    await v.accessible("a list with a warning");
    await v.end();
  });

  it("keeps to one player on demand, and loads more as its end comes near", async () => {
    const of = player(3);
    for (let i = 0; i < 60; i++) await server.makeToken({ kind: "AGENT", player: of.hash, note: `worker ${i}.` });
    const v = await visit();
    await v.signIn("/tokens");
    await v.page.getByRole("combobox", { name: "Only those of" }).fill(of.name);
    await v.page.getByRole("option", { name: of.name }).first().click();
    await v.page.waitForURL(new RegExp(`player=${of.hash}`));
    const all = server.sql(`SELECT count(*) FROM auth.tokens WHERE player = '${of.hash}'`);
    await v.page.getByText(`${all}, latest first`).waitFor();
    await row(v, "worker 59.").waitFor();
    const box = v.page.getByRole("region", { name: "tokens", exact: true });
    await expect
      .poll(async () => {
        await box.evaluate((e) => e.scrollTo(0, e.scrollHeight));
        return await row(v, "worker 0.").count();
      })
      .toBe(1);
    await v.page.getByRole("button", { name: /^Remove .* from Only those of$/ }).click();
    await expect.poll(() => v.page.url()).not.toContain("player=");
    await v.end();
  });
});

describe("revoking", () => {
  it("says what ends, and ends it", async () => {
    const of = player(4);
    const { secret } = await server.makeToken({ kind: "AGENT", player: of.hash, note: "on the lost laptop" });
    const v = await visit();
    await v.signIn(`/tokens?player=${of.hash}`);
    await row(v, "on the lost laptop")
      .getByRole("button", { name: /^Revoke…/ })
      .click();
    const dialog = v.page.getByRole("dialog", { name: `Revoke the agent’s token of ${of.name}?` });
    expect(await dialog.innerText()).toMatch(/on the lost laptop[\s\S]*What ends, within 5 seconds:[\s\S]*What stays:/);
    await v.accessible("the dialog");
    await v.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(server.sql("SELECT count(*) FROM auth.tokens WHERE revoked_at IS NOT NULL")).toBe("0");

    await row(v, "on the lost laptop")
      .getByRole("button", { name: /^Revoke…/ })
      .click();
    await dialog.getByRole("button", { name: "Revoke for good" }).click();
    await row(v, "on the lost laptop")
      .getByText(/^Revoked/)
      .waitFor();
    await expect.poll(() => row(v, "on the lost laptop").getByRole("button").count()).toBe(0);
    await expect
      .poll(
        () =>
          server.ask("{ __typename }", {}, secret).then(
            () => "works",
            () => "refused",
          ),
        { timeout: 10_000 },
      )
      .toBe("refused");
    await v.end();
  });

  it("that the server refuses is said in the dialog", async () => {
    const of = player(4);
    await server.makeToken({ kind: "AGENT", player: of.hash, note: "vanishes" });
    const v = await visit();
    await v.signIn(`/tokens?player=${of.hash}`);
    await row(v, "vanishes")
      .getByRole("button", { name: /^Revoke…/ })
      .click();
    await v.page.route("**/graphql", (route) =>
      route.request().postData()?.includes("revokeToken")
        ? route.fulfill({
            contentType: "application/json",
            body: '{"errors":[{"message":"there is no such token","extensions":{"code":"NOT_FOUND"}}]}',
          })
        : route.continue(),
    );
    await v.page.getByRole("button", { name: "Revoke for good" }).click();
    await v.page.getByRole("dialog").getByRole("alert").getByText("NOT_FOUND").waitFor();
    await v.end();
  });
});

it("goes by keyboard alone, from the first page to a token and its end", async () => {
  const of = player(0);
  const v = await visit();
  await v.signIn("/threads");
  await v.page.getByRole("listitem").first().waitFor();
  await v.tabTo(/^Tokens$/);
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("heading", { name: "Tokens", exact: true }).waitFor();
  await v.tabTo(/^New token$/);
  await v.page.keyboard.press("Enter");
  await panel(v).waitFor();
  await v.tabTo(/^Player$/);
  await v.page.keyboard.type(of.name);
  await v.page.getByRole("option", { name: of.name }).first().waitFor();
  await v.page.keyboard.press("ArrowDown");
  await v.page.keyboard.press("Enter");
  await v.tabTo(/^Note$/);
  await v.page.keyboard.type("made by keyboard");
  await v.page.keyboard.press("Enter");
  await panel(v).getByText("This is shown now and never again.").waitFor();
  await v.tabTo(/^I have copied it$/);
  await v.page.keyboard.press("Enter");
  await expect.poll(() => v.focused()).toBe("New token");
  await v.tabTo(/^Revoke….*made by keyboard$/);
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("dialog").waitFor();
  await v.tabTo(/^Revoke for good$/);
  await v.page.keyboard.press("Enter");
  await row(v, "made by keyboard")
    .getByText(/^Revoked/)
    .waitFor();
  await v.end();
});

it("has no finding of axe", async () => {
  const v = await visit();
  await v.signIn("/tokens");
  await v.everyLook("the list", rows(v));
  await v.page.getByRole("button", { name: "New token" }).click();
  for (const these of [wide, narrow]) {
    await v.seen(these[0]); // which closes lists
    await panel(v).getByRole("combobox", { name: "Player" }).click();
    await v.everyLook("the form, with a list open", v.page.getByRole("option"), these);
    await v.page.keyboard.press("Escape");
  }
  await v.seen(wide[0]);
  await panel(v).getByRole("button", { name: "Describe a new player…" }).click();
  await panel(v).getByRole("button", { name: "Save the player" }).click();
  await v.everyLook("the form, with a new player", panel(v).getByRole("button", { name: "Not now" }));
  await panel(v).getByRole("button", { name: "Not now" }).click();
  await panel(v).getByRole("button", { name: "Myself" }).click();
  await panel(v).getByLabel("Note").fill("axe");
  await panel(v).getByRole("button", { name: "Make the token" }).click();
  await v.everyLook("the secret", panel(v).getByText("Try it"));
  await v.end();
});
