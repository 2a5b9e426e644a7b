import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
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

// A named player who has sent messages of a thread to others, who answered, and such a thread.
function sender(): { hash: string; name: string; thread: string; theirs: string; others: string } {
  const row = server.sql(`
    SELECT p.hash, p.name, m.thread_hash, m.hash, o.hash FROM core.players p
    JOIN log.messages m ON m.owner_id = p.hash AND m.event_type = 'message' AND m.content IS NOT NULL
    JOIN log.messages o ON o.thread_hash = m.thread_hash AND o.owner_id <> p.hash AND o.event_type = 'message'
      AND o.session_hash = m.session_hash AND o.content IS NOT NULL
    WHERE p.name IS NOT NULL ORDER BY p.hash, m.id, o.id LIMIT 1`);
  const [hash = "", name = "", thread = "", theirs = "", others = ""] = row.split("|");
  return { hash, name, thread, theirs, others };
}

// Notes every answer of the API that refuses something for want of rights.
function refusals(v: Visit): string[] {
  const refused: string[] = [];
  v.page.on("response", async (r) => {
    if (!r.url().endsWith("/graphql")) return;
    const text = await r.text().catch(() => "");
    if (text.includes("FORBIDDEN")) refused.push(`${r.request().postData()?.slice(0, 200)} => ${text.slice(0, 300)}`);
  });
  return refused;
}

const account = (v: Visit) => v.page.getByRole("button", { name: /what you may do/ });

describe("who is signed in", () => {
  it("is in the header, with role and name, and what they may do one step further", async () => {
    const who = sender();
    const { secret } = await server.makeToken({ kind: "AGENT", player: who.hash });
    const v = await visit();
    await v.signIn("/", secret);
    await expect.poll(() => account(v).innerText()).toContain(who.name);
    expect(await account(v).innerText()).toContain("agent");
    await account(v).click();
    const menu = v.page.getByRole("region", { name: `${who.name}, agent` });
    const said = (await menu.innerText()).replace(/\s+/g, " ");
    expect(said).toContain("memory:write yes:");
    expect(said).toContain("tokens:manage no:");
    await expect.poll(() => menu.getByRole("link", { name: "What you did as administrator" }).count()).toBe(0);
    await v.page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    expect(await v.focused()).toMatch(/what you may do$/);
    await v.end();
  });

  it("leads administrators to the session that records what they do", async () => {
    const v = await visit();
    await v.signIn("/threads");
    await account(v).click();
    await v.page.getByRole("link", { name: "What you did as administrator" }).click();
    const player = server.sql("SELECT encode(sha256('ply:admin'), 'hex')");
    const session = server.sql(`SELECT encode(sha256('audit:${player}'), 'hex')`);
    await v.page.waitForURL(`${server.base}/sessions/${session}`);
    await v.page.getByRole("heading", { name: "What you did as administrator" }).waitFor();
    await v.end();
  });
});

describe("a link with somebody else's token", () => {
  it("says whose it is, and signs in with it only if that is wanted", async () => {
    const who = sender();
    const { secret } = await server.makeToken({ kind: "AGENT", player: who.hash });
    const v = await visit();
    await v.signIn("/threads");
    const follow = () => v.page.evaluate((token) => window.location.assign(`#token=${token}`), secret);
    const dialog = v.page.getByRole("dialog", { name: "The link has somebody else’s token" });
    await follow();
    await dialog.waitFor();
    expect(await dialog.innerText()).toContain(`agent ${who.hash.slice(0, 8)}`);
    await v.accessible("the question whose token");
    await v.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await account(v).innerText()).toContain("administrator");
    await v.page.reload();
    await expect.poll(() => account(v).innerText()).toContain("administrator");
    await v.go("/threads#token=%");
    await expect.poll(() => account(v).innerText()).toContain("administrator");
    await follow();
    await dialog.getByRole("button", { name: "Sign in as the other" }).click();
    await expect.poll(() => account(v).innerText()).toContain(who.name);
    await v.end();
  });
});

describe("a console of somebody who is no administrator", () => {
  it("shows what is theirs, leaves out what they may not do, and asks the server for none of it", async () => {
    const who = sender();
    const { secret } = await server.makeToken({ kind: "CLIENT", player: who.hash });
    const v = await visit();
    const refused = refusals(v);
    await v.signIn("/threads", secret);
    await v.page.getByText(/that you take part in, latest first/).waitFor();
    const nav = v.page.getByRole("navigation", { name: "Main" });
    expect(await nav.getByRole("link").allInnerTexts()).toEqual([
      "Overview",
      "Threads",
      "Conversations",
      "Events",
      "Windows",
      "Context",
      "Selections",
      "Components",
      "Records",
      "Seal",
      "Playground",
      "Settings",
    ]);
    await v.go("/seal");
    await v.page.getByText("Administrators have the server check all of it.").waitFor();
    await expect.poll(() => v.page.getByRole("button", { name: "Check the whole log" }).count()).toBe(0);
    await v.page.getByText("its signature holds").waitFor();
    await v.go("/tokens");
    await v.page.getByText("It needs a token with the scope tokens:manage, which yours lacks.").waitFor();
    await v.go(`/context?threshold=0&as=${"ab".repeat(32)}`);
    await v.page.getByText("Those of others are for administrators.").waitFor();
    await v.page.getByLabel("What is the context for?").fill("hotel");
    await v.page.getByRole("button", { name: "Ask for context" }).click();
    await v.page.getByRole("heading", { name: "Receipt" }).waitFor();
    await expect.poll(() => v.page.getByRole("region", { name: "Search models" }).count()).toBe(0);
    await v.go("/components");
    await v.page.getByRole("listitem").first().waitFor();
    await v.go("/records");
    await v.page.getByRole("heading", { name: "Records" }).waitFor();
    await v.go(`/threads/${who.thread}?message=${who.theirs}`);
    await v.page.getByRole("heading", { name: "Fields" }).waitFor();
    await expect.poll(() => v.page.getByRole("button", { name: "Erase content…" }).count()).toBe(0);
    await v.page.getByRole("button", { name: "Verify", exact: true }).click();
    await v.page.getByRole("button", { name: "Verify again" }).waitFor();
    const said = (await v.page.getByRole("region", { name: "Verification" }).innerText()).replace(/\s+/g, " ");
    expect(said).toMatch(/Recomputed in this browser (\d+) of \1 no break/);
    expect(said).toMatch(/Server says (\d+) of \1 no break/);
    await v.go("/playground");
    await v.page.getByText("Only administrators may read the schema").waitFor();
    await v.page.locator(".view-line", { hasText: "threads" }).first().waitFor();
    await v.page.getByRole("button", { name: /Execute query/ }).click();
    await v.page.locator(".graphiql-response", { hasText: "messageCount" }).waitFor();
    expect(refused).toEqual([]);
    await v.end();
  });

  it("lets them erase what they sent, and says who may erase the rest", async () => {
    const who = sender();
    const { secret } = await server.makeToken({ kind: "CLIENT", player: who.hash, scopes: ["log:read", "erase"] });
    const v = await visit();
    const refused = refusals(v);
    await v.signIn(`/messages/${who.others}`, secret);
    await v.page.getByText("this, its sender or an administrator may").waitFor();
    await expect.poll(() => v.page.getByRole("button", { name: "Erase content…" }).count()).toBe(0);
    await v.page.getByText("A check needs a token with the scope verify, which yours lacks.").waitFor();
    await v.go(`/messages/${who.theirs}`);
    await v.page.getByRole("button", { name: "Erase content…" }).click();
    await v.page.getByLabel("Reason, for the record").fill("It was mine.");
    await v.page.getByLabel("To go on, type ERASE").fill("ERASE");
    await v.page.getByRole("button", { name: "Erase for good" }).click();
    const receipt = v.page.getByRole("dialog", { name: "The content is erased" });
    await receipt.getByText("needs a token with the scope verify").waitFor();
    await receipt.getByRole("button", { name: "Close" }).click();
    await v.page.getByRole("definition").getByText("It was mine.").waitFor();
    expect(refused.filter((r) => !r.includes("proof"))).toEqual([]);
    await v.end();
  });

  it("manages tokens of their own player alone, with scopes that they have", async () => {
    const who = sender();
    const scopes = ["log:read", "verify", "tokens:manage"];
    const { secret } = await server.makeToken({ kind: "CLIENT", player: who.hash, scopes, note: "of mine" });
    await server.makeToken({ kind: "ADMIN", player: who.hash, note: "an administrator’s" });
    await server.makeToken({ kind: "AGENT", player: "cd".repeat(32), note: "of another" });
    const v = await visit();
    const refused = refusals(v);
    await v.signIn("/tokens", secret);
    const rows = v.page.getByRole("region", { name: "tokens", exact: true }).getByRole("listitem");
    await rows.filter({ hasText: "of mine" }).getByText("you use it now").waitFor();
    await expect.poll(() => rows.filter({ hasText: /of another|an administrator’s/ }).count()).toBe(0);
    await v.page.getByRole("button", { name: "New token" }).click();
    const form = v.page.getByRole("complementary");
    await expect.poll(() => form.getByRole("radio", { name: /^Administrator/ }).count()).toBe(0);
    expect(await form.getByRole("checkbox", { name: /^erase/ }).isDisabled()).toBe(true);
    await form.getByLabel("Note").fill("read and checked");
    await form.getByRole("button", { name: "Make the token" }).click();
    await form.getByText("log:read, verify.").waitFor();
    await form.getByRole("button", { name: "I have copied it" }).click();
    expect(refused).toEqual([]);
    await v.end();
  });

  it("says so where no page is open", async () => {
    const { secret } = await server.makeToken({ kind: "AGENT", player: sender().hash, scopes: ["events:ingest"] });
    const v = await visit();
    const refused = refusals(v);
    await v.signIn("/", secret);
    await v.page.getByText("You are signed in as agent, with a token for events:ingest.").waitFor();
    await v.go("/threads");
    await v.page.getByText("It needs a token with the scope log:read, which yours lacks.").waitFor();
    expect(refused).toEqual([]);
    await v.end();
  });
});

describe("a hook", () => {
  it("has no session, and is told so", async () => {
    const { secret } = await server.makeToken({ kind: "HOOK", player: sender().hash });
    const v = await visit();
    await v.go(`/#token=${secret}`);
    await v.page.getByText("a hook's token opens no session").waitFor();
    await v.end(/403/);
  });
});

const again = (v: Visit) => v.page.getByRole("dialog", { name: "Your session has ended" });

describe("a session that ends", () => {
  it("leaves the page as it is, and goes on with what was asked once somebody is back", async () => {
    const v = await visit();
    await v.signIn("/tokens?new");
    const form = v.page.getByRole("complementary");
    await form.getByRole("button", { name: "Myself" }).click();
    await form.getByRole("button", { name: /^Remove .* from Player$/ }).waitFor();
    await form.getByLabel("Note").fill("written before the end");
    await v.page.context().clearCookies();
    await form.getByRole("button", { name: "Make the token" }).click();
    await again(v).waitFor();
    await v.accessible("the dialog");
    await v.page.keyboard.press("Escape"); // to look at the page first
    await again(v).waitFor({ state: "detached" });
    expect(await form.getByLabel("Note").inputValue()).toBe("written before the end");
    await v.page.getByRole("alert").getByText("Your session has ended.").waitFor();
    await v.accessible("a page whose session has ended");
    expect(server.sql("SELECT count(*) FROM auth.tokens WHERE note = 'written before the end'")).toBe("0");

    await v.page.getByRole("button", { name: "Sign in again" }).click();
    await again(v).getByLabel("Token").fill("wrong");
    await v.page.keyboard.press("Enter");
    await again(v).getByRole("alert").waitFor();
    await again(v).getByLabel("Token").fill(server.token);
    await v.page.keyboard.press("Enter");
    await again(v).waitFor({ state: "detached" });
    await form.getByText("This is shown now and never again.").waitFor();
    expect(server.sql("SELECT count(*) FROM auth.tokens WHERE note = 'written before the end'")).toBe("1");
    await expect.poll(() => v.page.getByText("Your session has ended.").count()).toBe(0);
    await v.end(/status of 401/);
  });

  it("while a dialog is at work can be taken up again from there, by keyboard alone", async () => {
    const { theirs } = sender();
    const gone = () => server.sql(`SELECT content IS NULL FROM log.messages WHERE hash = '${theirs}'`);
    const v = await visit();
    await v.signIn(`/messages/${theirs}`);
    await v.page.getByRole("button", { name: "Erase content…" }).click();
    const dialog = v.page.getByRole("dialog", { name: /^Erase the content of message/ });
    await dialog.getByLabel("Reason, for the record").fill("Asked for at the end.");
    await dialog.getByLabel("To go on, type ERASE").fill("ERASE");
    await v.page.context().clearCookies();
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    await again(v).waitFor();
    await v.page.keyboard.press("Escape");
    await again(v).waitFor({ state: "detached" });
    await dialog.getByRole("alert").getByText("Your session has ended.").waitFor();
    await v.accessible("a dialog whose session has ended");
    expect(gone()).toBe("f");

    await v.tabTo(/^Sign in again$/);
    await v.page.keyboard.press("Enter");
    await again(v).getByLabel("Token").fill(server.token);
    await v.page.keyboard.press("Enter");
    await v.page.getByRole("dialog", { name: "The content is erased" }).waitFor();
    expect(gone()).toBe("t");
    await v.end(/status of 401/);
  });

  it("because its token was revoked says so", async () => {
    const who = sender();
    const { id, secret } = await server.makeToken({ kind: "CLIENT", player: who.hash });
    const v = await visit();
    await v.signIn("/components", secret);
    await v.page.getByRole("listitem").first().waitFor();
    await server.ask("mutation ($id: ID!) { revokeToken(id: $id) { id } }", { id });
    const nav = v.page.getByRole("navigation", { name: "Main" });
    await expect
      .poll(
        async () => {
          if (await again(v).count()) return true;
          await nav
            .getByRole("link", { name: "Records" })
            .click({ timeout: 1000 })
            .catch(() => {});
          await nav
            .getByRole("link", { name: "Threads" })
            .click({ timeout: 1000 })
            .catch(() => {});
          return (await again(v).count()) > 0;
        },
        { timeout: 20_000 },
      )
      .toBe(true);
    await again(v)
      .getByText(/^The server says: (unknown token|the session has ended)/)
      .waitFor();
    await again(v).getByRole("button", { name: "Leave" }).click();
    await v.page.getByRole("heading", { name: "Sign in" }).waitFor();
    await v.end(/status of 401/);
  });

  it("lets somebody else begin anew, with nothing of who was there before", async () => {
    const who = sender();
    const { secret } = await server.makeToken({ kind: "CLIENT", player: who.hash });
    const v = await visit();
    await v.signIn("/components");
    await v.page.getByRole("listitem").first().waitFor();
    await v.page.context().clearCookies();
    await v.page.getByRole("link", { name: "Threads" }).click();
    await again(v).getByLabel("Token").fill(secret);
    await v.page.keyboard.press("Enter");
    await v.page.getByText(/that you take part in, latest first/).waitFor();
    await expect.poll(() => account(v).innerText()).toContain(who.name);
    await expect.poll(() => v.page.getByRole("link", { name: "Tokens" }).count()).toBe(0);
    await v.end(/status of 401/);
  });

  it("in the playground leaves what was written", async () => {
    const v = await visit();
    await v.signIn();
    await v.go("/playground");
    await v.page.locator(".view-line", { hasText: "threads" }).first().waitFor();
    await v.page.context().clearCookies();
    await v.page.getByRole("button", { name: /Execute query/ }).click();
    await again(v).getByLabel("Token").fill(server.token);
    await v.page.keyboard.press("Enter");
    await v.page.locator(".graphiql-response", { hasText: "messageCount" }).waitFor();
    await v.end(/status of 401/);
  });
});

it("has no finding of axe in the header", async () => {
  const v = await visit();
  await v.signIn("/components");
  await v.page.getByRole("listitem").first().waitFor();
  await account(v).click();
  const scopes = v.page.getByRole("heading", { name: "Your token’s scopes" });
  await scopes.waitFor();
  await v.everyLook("the menu", scopes);
  await v.end();
});

it.each(["light", "dark"] as const)(
  "closes its menu where it is narrow, and a page was chosen in it, %s",
  async (theme) => {
    const v = await visit({ theme, width: 390, height: 844 });
    await v.signIn("/components");
    await account(v).click();
    const menu = v.page.getByRole("region", { name: /administrator$/ });
    await menu.getByRole("link", { name: "Tokens" }).click();
    await v.page.waitForURL(/\/tokens$/);
    await menu.waitFor({ state: "hidden" });
    await v.end();
  },
);
