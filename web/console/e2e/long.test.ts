// A thread of 12,000 messages in three sessions: it is read by ranges, and works as a short one does.
import { createHash } from "node:crypto";
import type { Browser, WebSocketRoute } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

const length = 12_000;
const perSession = length / 3;
const start = Date.UTC(2026, 0, 1); // one message a minute from then on
const filed = 6_000; // the position of the one with attachments
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const thread = hashOf("a long thread");
const sessions = ["one", "two", "three"].map((s) => hashOf(`long session ${s}`));

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = [await startServer(), await startBrowser()];
  await fill();
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const message = (position: number, players: string[]) => ({
  sessionHash: sessions[Math.floor(position / perSession)],
  threadHash: thread,
  ownerId: players[position % 2],
  content: `Message at ${position + 1}: ${"some words about a hotel. ".repeat(1 + ((position * 7_919) % 9))}`,
  eventType: position % 997 === 500 ? "ERROR" : "MESSAGE",
  importance: position % 1_499 === 3 ? 2 : 0,
  channel: position % 3 === 0 ? "webchat" : "voice",
  createdAt: new Date(start + position * 60_000).toISOString(),
  ...(position === filed && {
    attachments: {
      files: Array.from({ length: 800 }, (_, i) => ({ name: `file ${i}.txt`, size: i })),
      note: "a needle",
    },
  }),
});

async function fill(): Promise<void> {
  const players = server.sql("SELECT hash FROM core.players ORDER BY hash LIMIT 2").split("\n");
  for (let from = 0; from < length; from += 1_000) {
    const m = Array.from({ length: 1_000 }, (_, i) => message(from + i, players));
    await server.ask("mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", { m });
  }
}

// The hash of the message at a position, as the API tells.
async function at(position: number): Promise<string> {
  const query = "query ($t: Hash!, $p: Int!) { thread(hash: $t) { range(from: $p, count: 1) { messages { hash } } } }";
  type Answer = { thread: { range: { messages: { hash: string }[] } } };
  return (await server.ask<Answer>(query, { t: thread, p: position })).thread.range.messages[0]?.hash ?? "";
}

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);
const text = (v: Visit, position: number) =>
  v.page.getByRole("article").filter({ hasText: `Message at ${position + 1}:` });
const panel = (v: Visit) => v.page.getByRole("complementary", { name: "Message" });
const search = (v: Visit) => new URL(v.page.url()).searchParams;
const nodes = (v: Visit) => v.page.evaluate(() => document.querySelectorAll("*").length);

async function jump(v: Visit, to: string): Promise<void> {
  await v.page.getByRole("button", { name: "Jump to…" }).click();
  await v.page.getByLabel("Number, date or hash").fill(to);
  await v.page.keyboard.press("Enter");
}

// What is in view, wholly.
async function inView(v: Visit): Promise<string[]> {
  return await v.page.evaluate(() => {
    const box = document.querySelector('section[aria-label="messages"]')?.getBoundingClientRect();
    return [...document.querySelectorAll("article")]
      .filter((a) => {
        const { top, bottom } = a.getBoundingClientRect();
        return box && top >= box.top && bottom <= box.bottom;
      })
      .map((a) => /Message at \d+/.exec(a.textContent ?? "")?.[0] ?? "");
  });
}

// All that scripts of the page hold, as text.
async function memoryOf(v: Visit): Promise<string> {
  const devtools = await v.page.context().newCDPSession(v.page);
  const chunks: string[] = [];
  devtools.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(chunk));
  await devtools.send("HeapProfiler.collectGarbage");
  await devtools.send("HeapProfiler.takeHeapSnapshot");
  await devtools.detach();
  return chunks.join("");
}

describe("a long thread", () => {
  it("is jumped about in by number, date and hash, and says why if it cannot", async () => {
    const v = await visit();
    await v.signIn(`/threads/${thread}`);
    await text(v, 0).waitFor();
    await jump(v, "9001");
    await text(v, 9_000).waitFor();
    await expect.poll(() => v.focused()).toMatch(/^Open message 1001 /);
    await jump(v, new Date(start + 3_000 * 60_000).toISOString());
    await text(v, 3_000).waitFor();
    await jump(v, await at(11_999));
    await text(v, 11_999).waitFor();
    await jump(v, "yesterday");
    await v.page.getByText("That is no number, date or whole hash.").waitFor();
    await v.page.getByLabel("Number, date or hash").fill("12001");
    await v.page.keyboard.press("Enter");
    await v.page.getByText("There is no message 12,001 here.").waitFor();
    await v.accessible("the jump");
    await v.page.keyboard.press("Escape");
    await expect.poll(() => text(v, 11_999).count()).toBe(1);
    await v.end();
  });

  it("has the same screen after a reload, and in a clean profile", async () => {
    const hash = await at(7_500);
    const v = await visit();
    await v.signIn(`/threads/${thread}?channel=webchat&message=${hash}`);
    await v.page.getByRole("heading", { name: "Message #3501" }).waitFor();
    await v.page.waitForURL(new RegExp(`message=7501\\.${hash.slice(0, 12)}`));
    await jump(v, "8003");
    await v.page.getByText("It is here, but the filter leaves it out.").waitFor();
    await v.page.getByLabel("Number, date or hash").fill("8101");
    await v.page.keyboard.press("Enter");
    await text(v, 8_100).waitFor();
    await expect.poll(() => search(v).get("at")).toMatch(/^2[67]\d\d(\.\d+)?$/); // the list is that of every third one
    const before = await inView(v);
    expect(before).toContain("Message at 8101");
    await v.page.reload();
    await text(v, 8_100).waitFor();
    await panel(v).getByText("Recomputed in this browser").waitFor();
    await expect.poll(() => inView(v)).toEqual(before);
    const other = await visit();
    await other.signIn();
    await other.go(v.page.url().slice(server.base.length));
    await text(other, 8_100).waitFor();
    await panel(other).getByText("Recomputed in this browser").waitFor();
    await expect.poll(() => inView(other)).toEqual(before);
    await other.end();
    await v.end();
  });

  it("keeps few rows in the document and in memory, and drops what is far away", async () => {
    const v = await visit();
    const asked: number[] = [];
    v.page.on("request", (r) => {
      const body =
        r.method() === "POST" ? (r.postDataJSON() as { operationName?: string; variables?: { from: number } }) : null;
      if (body?.operationName === "Range" && body.variables) asked.push(body.variables.from);
    });
    await v.signIn(`/threads/${thread}`);
    await text(v, 0).waitFor();
    for (const place of [1_500, 3_000, 4_500, 6_500, 8_000, 10_000, 11_500]) {
      await jump(v, String(place));
      await text(v, place - 1).waitFor();
      for (let i = 0; i < 5; i++) await v.page.keyboard.press("PageDown");
      expect(await nodes(v)).toBeLessThanOrEqual(1_500);
      expect(await v.page.getByRole("article").count()).toBeLessThan(40);
    }
    expect(asked.filter((from) => from === 0).length).toBe(1);
    await v.page.keyboard.press("Home");
    await text(v, 0).waitFor();
    await expect.poll(() => v.focused()).toMatch(/^Open message 1 /);
    expect(asked.filter((from) => from === 0).length).toBe(2); // it was not kept
    await v.page.keyboard.press("End");
    await text(v, length - 1).waitFor();
    await expect.poll(() => v.focused()).toMatch(/^Open message 4000 /);
    await v.end();
  });

  it("keeps few of the messages in memory that were open once, and are far away", async () => {
    const v = await visit();
    await v.signIn(`/threads/${thread}`);
    const places = Array.from({ length: 14 }, (_, i) => 100 + 800 * i);
    for (const place of places) {
      await jump(v, String(place));
      await expect.poll(() => v.focused()).toMatch(new RegExp(`^Open message ${1 + ((place - 1) % perSession)} `));
      await v.page.keyboard.press("Enter");
      await panel(v).getByText(`Message at ${place}:`).waitFor();
      await panel(v).getByText("Recomputed in this browser").waitFor();
    }
    const memory = await memoryOf(v);
    const held = places.filter((place) => memory.includes(`Message at ${place}: some words`));
    expect(held).toContain(places.at(-1));
    expect(held.length).toBeLessThanOrEqual(8);
    await v.end();
  });

  it("is scrubbed along its marks by key, and by a click to any part", async () => {
    const v = await visit();
    await v.signIn(`/threads/${thread}`);
    const scrubber = v.page.getByRole("slider", { name: "What stands out in the conversation" });
    await scrubber.waitFor();
    await expect.poll(() => scrubber.locator('path[data-kind="ERROR"]').getAttribute("d")).toMatch(/^M/);
    await scrubber.focus();
    const told = () => scrubber.getAttribute("aria-valuetext");
    const next = async (wanted: string) => {
      await v.page.keyboard.press("ArrowDown");
      await expect.poll(told).toBe(wanted);
    };
    await next("Message 4 of 12,000, very relevant");
    await next("Message 501 of 12,000, an error");
    await text(v, 500).getByText("Error", { exact: true }).waitFor();
    await next("Message 1,498 of 12,000, an error");
    await v.page.keyboard.press("ArrowUp");
    await expect.poll(told).toBe("Message 501 of 12,000, an error");
    const box = await scrubber.boundingBox();
    if (!box) throw new Error("no scrubber");
    await v.page.mouse.click(box.x + box.width / 2, box.y + box.height * 0.72);
    await expect.poll(async () => Number(await scrubber.getAttribute("aria-valuenow"))).toBeGreaterThan(8_000);
    expect(Number(await scrubber.getAttribute("aria-valuenow"))).toBeLessThan(9_300);
    await v.end();
  });

  it("is narrowed down in the address, and J and K walk what is left", async () => {
    const v = await visit();
    await v.signIn(`/threads/${thread}`);
    await text(v, 0).waitFor();
    await v.page.getByLabel("Importance").selectOption({ label: "Very relevant" });
    await v.page.getByText(/^9 of 12,000 messages/).waitFor();
    expect(search(v).getAll("importance")).toEqual(["2"]);
    await text(v, 3)
      .getByRole("button", { name: /^Open message 4 / })
      .click();
    await v.page.getByRole("heading", { name: "Message #4", exact: true }).waitFor();
    await v.page.waitForURL(/message=4\./);
    await v.page.keyboard.press("j");
    await v.page.getByRole("heading", { name: "Message #1503", exact: true }).waitFor();
    await v.page.keyboard.press("j");
    await v.page.getByRole("heading", { name: "Message #3002", exact: true }).waitFor();
    await v.page.keyboard.press("k");
    await v.page.getByRole("heading", { name: "Message #1503", exact: true }).waitFor();
    await v.page.waitForURL(/message=1503\./);
    await v.page.keyboard.press("Enter");
    await v.page.waitForURL(/\/1503\.[0-9a-f]{12}\?importance=2/);
    await v.page.getByRole("link", { name: "Back to the conversation" }).waitFor();
    await v.page.getByRole("heading", { name: "Message #1503", exact: true }).waitFor();
    await v.page.keyboard.press("j");
    await v.page.getByRole("heading", { name: "Message #3002", exact: true }).waitFor();
    await v.accessible("a message in full");
    await v.page.keyboard.press("Escape");
    await text(v, 3_001).waitFor();
    await panel(v).waitFor();
    await v.page.keyboard.press("Escape");
    await panel(v).waitFor({ state: "detached" });
    await expect.poll(() => v.focused()).toMatch(/^Open message 3002 /);
    await v.page.getByLabel("Time").selectOption({ label: "Last 24 hours" });
    await v.page.getByText("No message matches the filter").waitFor();
    await v.page.reload();
    await v.page.getByText("No message matches the filter").waitFor();
    expect(search(v).get("since")).toBe("-24h"); // relative stays relative
    await v.page.getByRole("main").getByRole("button", { name: "Clear the filter" }).last().click();
    await text(v, 0).waitFor();
    await v.end();
  });

  it("says of a link that no longer matches what it named, and what stands there now", async () => {
    const hash = await at(16);
    const v = await visit();
    await v.signIn(`/threads/${thread}?message=17.000000000000`);
    await v.page.getByRole("heading", { name: "The link no longer matches" }).waitFor();
    const said = await panel(v).innerText();
    expect(said).toContain("000000000000");
    expect(said).toContain(hash.slice(0, 12));
    await v.accessible("a link that no longer matches");
    await v.page.getByRole("button", { name: "Open what stands there now" }).click();
    await v.page.getByRole("heading", { name: "Message #17", exact: true }).waitFor();
    await v.go(`/threads/${thread}?message=99999.000000000000`);
    await v.page.getByText("Nothing stands there now.").waitFor();
    await v.go(`/threads/${thread}?message=nonsense`);
    await v.page.getByText("The link names no message").waitFor();
    await v.end();
  });

  it("shows large attachments as a tree of few nodes, with a search of its own, and proves the message here", async () => {
    const v = await visit();
    await v.signIn(`/threads/${thread}?message=${await at(filed)}`);
    const tree = v.page.getByRole("tree", { name: "Attachments" });
    await tree.waitFor();
    expect(await tree.getByRole("treeitem").count()).toBeLessThanOrEqual(100);
    expect(await nodes(v)).toBeLessThanOrEqual(1_500);
    await v.page.getByLabel("Find in Attachments").fill("NEEDLE");
    await v.page.keyboard.press("Enter");
    await tree.getByRole("treeitem", { selected: true }).filter({ hasText: "a needle" }).waitFor();
    await v.page.getByLabel("Find in Attachments").fill("file 79");
    await v.page.getByText("0 of 11").waitFor(); // 79, and 790 to 799
    for (let i = 0; i < 3; i++) await v.page.keyboard.press("Enter");
    await tree.getByRole("treeitem", { selected: true }).filter({ hasText: "file 791.txt" }).waitFor();
    expect(await tree.getByRole("treeitem").count()).toBeLessThanOrEqual(100);
    await v.page.getByRole("button", { name: "Verify this message" }).click();
    await panel(v).getByText("Proved in this browser to be in the tree").waitFor();
    await v.end();
  });
});

describe("what is appended to a long thread", () => {
  const append = async (n: number, words: string) => {
    for (let i = 0; i < n; i++) {
      const owner = server.sql(
        `SELECT owner_id FROM log.messages WHERE session_hash = '${sessions[2]}' AND sequence = 1`,
      );
      const m = [{ sessionHash: sessions[2], threadHash: thread, ownerId: owner, content: `${words} ${i + 1}.` }];
      await server.ask("mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", { m });
    }
  };

  it("is counted below while one reads above, followed at the end, and caught up with after a break", async () => {
    const v = await visit();
    const connections: WebSocketRoute[] = [];
    let cut = false;
    await v.page.routeWebSocket(/\/graphql$/, (ws) => {
      if (cut) return void ws.close({ code: 1012 });
      ws.connectToServer();
      connections.push(ws);
    });
    await v.signIn(`/threads/${thread}`);
    await text(v, 0).waitFor();
    const at = await v.page.getByRole("slider").getAttribute("aria-valuenow");
    await append(12, "While reading above");
    await v.page.getByRole("button", { name: "12 new" }).waitFor();
    expect(await v.page.getByRole("slider").getAttribute("aria-valuenow")).toBe(at); // the list stays where it is
    await v.accessible("a thread with news below");
    await v.page.getByRole("button", { name: "12 new" }).click();
    await v.page.getByText("While reading above 12.").waitFor();
    await v.page.getByRole("button", { name: /new$/ }).waitFor({ state: "detached" });
    await append(1, "While at the end");
    await v.page.getByText("While at the end 1.").waitFor();

    cut = true;
    for (const ws of connections) await ws.close({ code: 1012 });
    await v.page.getByText("Live updates are interrupted").waitFor();
    await append(3, "While nobody listened");
    cut = false;
    await v.page.getByText("While nobody listened 3.").waitFor({ timeout: 60_000 });
    await v.page.getByText("Live updates are interrupted").waitFor({ state: "detached" });
    await v.end(/WebSocket connection/);
  });
});

it("has no finding of axe in a long thread", async () => {
  const v = await visit();
  await v.signIn(`/threads/${thread}?at=5990`);
  await text(v, 5_989).waitFor();
  await v.everyLook("the middle of a long thread", v.page.getByRole("article"));
  await v.go(`/threads/${thread}?message=${await at(filed)}`);
  await v.everyLook("a message with attachments", v.page.getByRole("tree"));
  await v.end();
});
