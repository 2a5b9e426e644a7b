// The chain page of a session of some length: what is in view is checked first, the check can be cancelled, the server's
// word counts for nothing, and the file that it offers is good for the offline verifier.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

const length = 520; // more than are marked at once, as each is an error
const hash = (of: string) => createHash("sha256").update(of).digest("hex");
const session = hash("a session of the chain test");
const thread = hash("a thread of the chain test");
const binary = process.env.CONTEXT_MANAGER_BIN ?? new URL("../../../.build/context-manager", import.meta.url).pathname;

let server: Server;
let browser: Browser;
let owner = "";

const append = (m: object[]) =>
  server.ask<{ appendMessages: { hash: string }[] }>(
    "mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }",
    { m },
  );

beforeAll(async () => {
  [server, browser] = [await startServer(), await startBrowser()];
  owner = server.sql("SELECT hash FROM core.players ORDER BY hash LIMIT 1");
  const one = (i: number) => ({
    sessionHash: session,
    threadHash: thread,
    ownerId: owner,
    content: `Number ${i + 1}.`,
    eventType: "ERROR",
  });
  await append(Array.from({ length }, (_, i) => one(i)));
  const sealed = "SELECT (SELECT max(size) FROM seal.checkpoints) = (SELECT count(*) FROM log.messages)";
  await vi.waitFor(() => expect(server.sql(sealed)).toBe("t"), { timeout: 20_000, interval: 200 });
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

// Keeps the requests of an operation back until they are let go; of VerifyPage those of stretches, which come before it.
async function hold(v: Visit, operation: string): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let open = false;
  await v.page.route(operation === "VerifyPage" ? "**/stretch?*" : "**/graphql", async (route) => {
    const asked = route.request().postDataJSON() as { operationName?: string } | null;
    if (open || (asked ? asked.operationName !== operation : operation !== "VerifyPage")) return await route.fallback();
    held.push(route);
  });
  return async () => {
    open = true;
    for (const route of held) await route.fallback();
  };
}

const verification = (v: Visit) => v.page.getByRole("region", { name: "Verification" });
const said = async (v: Visit) => (await verification(v).innerText()).replace(/\s+/g, " ");
const article = (v: Visit, n: number) => v.page.getByRole("article", { name: `Message ${n}`, exact: true });
const press = (v: Visit) => v.page.getByRole("button", { name: "Verify", exact: true }).click();

describe("the check of a session", () => {
  it.each([
    ["sessions", session],
    ["threads", thread],
  ])("in /%s begins with the rows in view, wherever they are", async (kind, of) => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/${kind}/${of}?at=400`);
    await article(v, 401).waitFor();
    const go = await hold(v, "VerifyPage");
    await press(v);
    await article(v, 401).getByText("verified", { exact: true }).waitFor();
    expect(await said(v)).toContain(`Recomputed in this browser 0 of ${length} checking`);
    expect(await said(v)).toContain(`Server says 0 of ${length} after this browser`);
    await go();
    await verification(v).getByText("The script that checked this").waitFor();
    expect(await said(v)).toMatch(
      new RegExp(
        `Recomputed in this browser ${length} of ${length} no break Proved in this browser ${length} of ${length} checkpoint of \\d+ messages, `,
      ),
    );
    await v.end();
  });

  it("is cancelled at once, and then claims nothing", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).waitFor();
    await hold(v, "VerifyPage");
    await press(v);
    await article(v, 1).getByText("verified", { exact: true }).waitFor();
    await v.page.getByRole("button", { name: "Cancel" }).click();
    expect(await said(v)).toContain(`Recomputed in this browser 0 of ${length} cancelled`);
    expect(await said(v)).toContain(`Proved in this browser 0 of ${length} cancelled`);
    await v.page.getByRole("button", { name: "Verify again" }).waitFor();
    await v.end();
  });

  it("goes on message by message where a stretch is not what it must be, and is as good in the end", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).waitFor();
    let altered = 0;
    await v.page.route("**/stretch?*", async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      const at = body.length - 40; // of the hashes that prove it
      body[at] = (body[at] ?? 0) ^ 1;
      altered++;
      await route.fulfill({ response, body });
    });
    const pages: unknown[] = [];
    v.page.on("request", (r) => r.postData()?.includes("VerifyPage") && pages.push(r));
    await press(v);
    await verification(v).getByText("The script that checked this").waitFor();
    expect(await said(v)).toMatch(new RegExp(`Proved in this browser ${length} of ${length} checkpoint of`));
    expect(altered).toBeGreaterThan(0);
    expect(pages.length).toBeGreaterThanOrEqual(length / 100);
    await v.end();
  });

  it("hashes by WebAssembly in its workers, which may compile that, and the page may not", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).waitFor();
    const asked = v.page.waitForRequest(/assets\/worker-[^/]*\.js$/);
    await press(v);
    const address = (await asked).url();
    await verification(v).getByText("The script that checked this").waitFor();
    await v.end(); // nothing was refused
    const other = await Visit.begin(browser, server);
    await other.signIn(`/sessions/${session}`);
    const started = other.page.waitForEvent("worker");
    await other.page.evaluate((url) => {
      Object.assign(globalThis, { kept: new Worker(url, { type: "module" }) });
    }, address);
    const compiles = () => {
      try {
        return Boolean(new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])));
      } catch {
        return false;
      }
    };
    expect(await (await started).evaluate(compiles)).toBe(true);
    expect(await other.page.evaluate(compiles)).toBe(false);
    await other.page.context().close();
  });

  it("that fails is not finished, which is neither nothing nor well", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).waitFor();
    await v.page.route("**/graphql", async (route) => {
      const asked = route.request().postDataJSON() as { operationName?: string } | null;
      if (asked?.operationName !== "VerifyPage") return await route.fallback();
      await route.fulfill({ status: 503, body: "no" });
    });
    await v.page.route("**/stretch?*", (route) => route.fulfill({ status: 503, body: "no" }));
    await press(v);
    await verification(v).getByText("The script that checked this").waitFor();
    expect(await said(v)).toMatch(/Recomputed in this browser 0 of 520 not finished: /);
    await v.end(/status of 503/);
  });

  it("cannot begin without its script, and says so", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).waitFor();
    const gone = v.page.waitForResponse(/assets\/worker-[^/]*\.js$/);
    await v.page.route(/assets\/worker-[^/]*\.js$/, (route) => route.fulfill({ status: 404, body: "no" }));
    const go = await hold(v, "VerifyRows"); // so that nothing is asked of it before that
    await press(v);
    await gone;
    await v.quiet();
    await go();
    await verification(v).getByText("The script that checked this").waitFor();
    expect(await said(v)).toContain(`Recomputed in this browser 0 of ${length} not finished: The check could not run.`);
    await v.end(/status of 404/);
  });

  it("waits if the visit ends meanwhile, and goes on once somebody is back", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await article(v, 1).waitFor();
    const go = await hold(v, "VerifyPage");
    await press(v);
    await article(v, 1).getByText("verified", { exact: true }).waitFor();
    await v.page.context().clearCookies();
    await go();
    const again = v.page.getByRole("dialog", { name: "Your session has ended" });
    await again.getByLabel("Token").fill(server.token);
    await v.page.keyboard.press("Enter");
    await verification(v).getByText("The script that checked this").waitFor();
    expect(await said(v)).toMatch(new RegExp(`Proved in this browser ${length} of ${length} checkpoint of`));
    await v.end(/status of 401/);
  });

  it("offers the session with its proofs, which the offline verifier finds good, and the whole log on the server", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    const dir = mkdtempSync(join(tmpdir(), "chain-test-"));
    try {
      const save = async (name: RegExp) => {
        const [file] = await Promise.all([
          v.page.waitForEvent("download"),
          verification(v).getByRole("link", { name }).click(),
        ]);
        const path = join(dir, file.suggestedFilename());
        await file.saveAs(path);
        return path;
      };
      const [proofs, key] = [await save(/with its proofs/), await save(/key/)];
      expect(proofs).toContain(`session-${session.slice(0, 16)}.jsonl`);
      expect(execFileSync(binary, ["verify", proofs, "--key", key], { encoding: "utf8" })).toContain(String(length));
    } finally {
      rmSync(dir, { recursive: true });
    }
    await verification(v).getByRole("link", { name: "Check the whole log on the server" }).click();
    await v.page.waitForURL(/\/seal#whole/);
    const whole = v.page.getByRole("region", { name: "The whole log" });
    await whole.getByRole("button", { name: "Check the whole log" }).click();
    await whole.getByText("no break, the server says").waitFor();
    await v.end();
  });

  it("says how many of its marks are shown where that is not all", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    const scrubber = v.page.getByRole("slider", { name: "What stands out in the conversation" });
    await scrubber.waitFor();
    await expect.poll(() => scrubber.getAttribute("title")).toMatch(/^500 of 52\d marks are shown\.$/);
    await v.end();
  });
});

describe("the keys of a conversation", () => {
  const open = async (query: string) => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}${query}`);
    return v;
  };
  const pressed = async (v: Visit, key: string, n: number) => {
    await v.page.keyboard.press(key);
    await expect.poll(() => v.focused()).toMatch(new RegExp(`^Open message ${n} `));
  };

  it.each([
    ["j", 401],
    ["k", 399],
  ])("begin where the address says: %s", async (key, n) => {
    const v = await open("?at=400");
    await article(v, 400).waitFor();
    await pressed(v, key, n);
    await v.end();
  });

  it("begin where one has scrolled to, also with Tab", async () => {
    const v = await open("");
    await article(v, 1).waitFor();
    await v.page.mouse.move(600, 500);
    const top = async () => Number(new URL(v.page.url()).searchParams.get("at")?.split(".")[0] ?? 1);
    await v.page.mouse.wheel(0, 9_000);
    await expect.poll(top).toBeGreaterThan(20);
    const first = await top();
    await v.tabTo(new RegExp(`^Open message ${first} `));
    await pressed(v, "j", first + 1);
    await v.page.mouse.wheel(0, 9_000);
    await expect.poll(top).toBeGreaterThan(first + 20);
    await pressed(v, "k", (await top()) - 1);
    await v.end();
  });

  it("begin at the first of what a filter leaves", async () => {
    const v = await open("?at=400");
    await article(v, 400).waitFor();
    await v.page.getByLabel("Time").selectOption({ label: "Last 24 hours" });
    await article(v, 1).waitFor();
    await v.page.getByRole("heading", { level: 1 }).click(); // out of the field
    await pressed(v, "j", 2);
    await v.end();
  });
});

describe("J and K on the page of one message", () => {
  it("count from when they are pressed, though the message is not yet found", async () => {
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}?at=10`);
    await article(v, 11).getByRole("button").click();
    await v.page.waitForURL(/message=11\./);
    const name = new URL(v.page.url()).searchParams.get("message");
    const go = await hold(v, "Range");
    await v.go(`/sessions/${session}/${name}`);
    await v.page.getByRole("link", { name: "Back to the conversation" }).waitFor();
    for (const key of ["j", "j", "j", "k"]) await v.page.keyboard.press(key);
    await go();
    await v.page.getByRole("heading", { name: "Message #13", exact: true }).waitFor();
    for (const key of ["j", "j"]) await v.page.keyboard.press(key);
    await v.page.getByRole("heading", { name: "Message #15", exact: true }).waitFor();
    await v.end();
  });
});

describe("what a model wrote", () => {
  const hostile = [
    '<img src="http://elsewhere.example/a.png" onerror="document.title=1">',
    "<script>document.title = 1</script>",
    '<a href="javascript:alert(1)">press</a>',
    "![an image](http://elsewhere.example/b.png) [a link](http://elsewhere.example/)",
    "http://elsewhere.example/plain",
    "\u202Etxt.exe\u202C",
  ].join("\n");

  it("is text everywhere: never HTML, an image or a live link", async () => {
    const of = hash("a hostile session");
    const m = { sessionHash: of, threadHash: of, ownerId: owner, content: hostile };
    const extra = { attachments: { [hostile]: hostile, list: [hostile] }, ambient: { note: hostile } };
    const { appendMessages: first } = await append([{ ...m, ...extra, role: "<b>user</b>", channel: "<i>web</i>" }]);
    const refs = [{ type: "CONTEXT", hash: first[0]?.hash }];
    const { appendMessages: second } = await append([{ ...m, refs }]);
    const v = await Visit.begin(browser, server);
    const clean = async (where: string) => {
      const live =
        "main img, main script, main iframe, main b b, main i i, main [href*='elsewhere'], main [href^='javascript']";
      expect(await v.page.locator(live).count(), where).toBe(0);
      expect(await v.page.title()).not.toBe("1");
    };
    await v.signIn(`/threads/${of}?message=${first[0]?.hash}`);
    const panel = v.page.getByRole("complementary", { name: "Message" });
    await panel.getByRole("tree", { name: "Attachments" }).waitFor();
    await panel.getByRole("tree", { name: "Ambient" }).getByText("<script>").first().waitFor();
    await v.page.getByRole("article").getByText("<img src=").first().waitFor();
    expect(await panel.innerText()).toContain("![an image](http://elsewhere.example/b.png)");
    await clean("the thread");
    await v.go(`/threads/${of}/1.${first[0]?.hash.slice(0, 12)}`);
    await v.page.getByRole("tree", { name: "Attachments" }).waitFor();
    await clean("the page of one message");
    await v.go(`/messages/${second[0]?.hash}/references`);
    await v.page.getByRole("table").getByText("<img src=").first().waitFor();
    await clean("its references");
    await v.go(`/messages/${first[0]?.hash}/references?view=graph`);
    await v.page.getByRole("region", { name: /^Graph of references/ }).waitFor();
    await clean("their graph");
    await v.end();
  });
});

// Last: from here on the log is not what it was.
describe("a server that finds nothing wrong with a log that was altered", () => {
  it("is not believed: the message, both digests and the field are shown, and where it is", async () => {
    const alter = (change: string, n: number) =>
      server.sql(`BEGIN; ALTER TABLE log.messages DISABLE TRIGGER ALL;
        UPDATE log.messages SET ${change} WHERE session_hash = '${session}' AND sequence = ${n};
        ALTER TABLE log.messages ENABLE TRIGGER ALL; COMMIT`);
    alter("event_type = 'message'", 300);
    alter(`thread_hash = '${hash("elsewhere")}'`, 200);
    const v = await Visit.begin(browser, server);
    await v.page.routeWebSocket(/\/graphql$/, (ws) => {
      const real = ws.connectToServer();
      real.onMessage((text) => {
        const message = JSON.parse(String(text)) as {
          payload?: { data?: { verificationProgress?: { breaks: unknown[] } } };
        };
        const told = message.payload?.data?.verificationProgress;
        if (told) told.breaks = [];
        ws.send(JSON.stringify(message));
      });
    });
    await v.signIn(`/threads/${thread}`);
    await article(v, 1).waitFor();
    await press(v);
    await verification(v).getByText("The script that checked this").waitFor();
    const words = await said(v);
    expect(words).toMatch(/Server says 520 of 520 no break/);
    expect(words).toMatch(/First: Field mismatch at #200 .* Altered: its thread\./);
    expect(words).toMatch(
      /Field mismatch at #300 .* Altered: its event type\..* was, by proof error is now message computed here [0-9a-f]{64} stated [0-9a-f]{64}/,
    );
    const show = (n: number) =>
      verification(v)
        .getByRole("listitem")
        .filter({ hasText: `Field mismatch at #${n}` })
        .getByRole("button", { name: "Show" });
    await show(300).click();
    await article(v, 300).getByText("MISMATCH", { exact: true }).first().waitFor();
    await v.page.keyboard.press("Enter");
    const panel = v.page.getByRole("complementary", { name: "Message" });
    await panel.getByText("was, by proof, error").waitFor();
    await v.accessible("a chain with fields that were altered");
    await v.end();
  });
});
