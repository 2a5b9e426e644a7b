// What is called verified is what was checked: rows and the open message come from other answers than the chain's check, and
// a server may lie in these alone, or show another message once the check is done.
import { createHash } from "node:crypto";
import type { ResultOf } from "gql.tada";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fromBase64, sha256 } from "../src/chain/bytes";
import type { ChainMessage } from "../src/chain/check";
import type { VerifyRows } from "../src/chain/query";
import { write } from "../src/chain/testing";
import type { MessageRow, RangeQuery } from "../src/pages/thread/query";
import { startBrowser, Visit } from "./browser";
import { forge } from "./forge";
import { type Server, startServer } from "./server";

const length = 90; // two blocks of rows, far more than are in view
const hash = (of: string) => createHash("sha256").update(of).digest("hex");
// One for what lies on the way, and one for each message that is altered: what breaks are found of one takes room in view.
const [session = "", ...altered] = ["whole", "with another hash", "with another content"].map(hash);

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = [await startServer(), await startBrowser()];
  const ownerId = server.sql("SELECT hash FROM core.players ORDER BY hash LIMIT 1");
  for (const sessionHash of [session, ...altered]) {
    const m = Array.from({ length }, (_, i) => ({ sessionHash, ownerId, content: `Number ${i + 1}.` }));
    await server.ask("mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", { m });
  }
  const sealed = "SELECT (SELECT max(size) FROM seal.checkpoints) = (SELECT count(*) FROM log.messages)";
  await vi.waitFor(() => expect(server.sql(sealed)).toBe("t"), { timeout: 20_000, interval: 200 });
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

type Range = ResultOf<typeof RangeQuery>;
type Bytes = ResultOf<typeof VerifyRows>;

const rowsOf = (data: Range): MessageRow[] => [...((data.thread ?? data.session)?.range.messages ?? [])];
const article = (page: Page, n: number) => page.getByRole("article", { name: `Message ${n}`, exact: true });
const verified = (page: Page, n: number) => article(page, n).getByText("verified", { exact: true });
const mismatch = (page: Page, n: number) => article(page, n).getByText("MISMATCH", { exact: true }).first();
const panelOf = (page: Page) => page.getByRole("complementary", { name: "Message" });

async function verify(v: Visit): Promise<string> {
  await v.page.getByRole("button", { name: /^Verify( again)?$/ }).click();
  const section = v.page.getByRole("region", { name: "Verification" });
  await section.getByText("The script that checked this").waitFor();
  return (await section.innerText()).replace(/\s+/g, " ");
}

async function begin(of = session, prepare = (_: Visit) => Promise.resolve()): Promise<Visit> {
  const v = await Visit.begin(browser, server);
  await prepare(v);
  await v.signIn(`/sessions/${of}`);
  await article(v.page, 1).waitFor();
  return v;
}

const lie = { content: "Nobody ever wrote this number." };

it("the open message shows its frame at once, and its body behind that", async () => {
  const v = await begin();
  const shown = await v.page.evaluate(async () => {
    document.querySelector<HTMLElement>('[data-open-index="1"]')?.click();
    await new Promise<void>((resolve) => queueMicrotask(resolve));
    const panel = document.querySelector("[data-panel]");
    return [panel?.querySelector("h2")?.textContent, panel?.querySelectorAll("section").length];
  });
  expect(shown).toEqual(["Message #2", 0]);
  await panelOf(v.page).getByRole("heading", { name: "Integrity" }).waitFor();
  await v.end();
});

describe("rows", () => {
  it("that come into view after the check are held against it, too", async () => {
    const v = await begin();
    await verify(v);
    await verified(v.page, 1).waitFor();
    await v.page.getByRole("region", { name: "messages" }).press("End");
    await verified(v.page, length).waitFor();
    await v.end();
  });

  it("that show something else than their hash covers are a mismatch, though the chain holds", async () => {
    const change = (data: Range) => {
      for (const m of rowsOf(data)) if (m.sequence === 2 || m.sequence === length - 1) Object.assign(m, lie);
    };
    const v = await begin(session, (v) => forge<Range>(v, "Range", change));
    await article(v.page, 2).getByText(lie.content).waitFor();
    expect(await verify(v)).toContain(`Proved in this browser ${length} of ${length} checkpoint`);
    await mismatch(v.page, 2).waitFor();
    await article(v.page, 2).getByText("The hash covers another content than is shown.").waitFor();
    await verified(v.page, 3).waitFor();
    expect(await verified(v.page, 2).count()).toBe(0);
    await v.page.getByRole("region", { name: "messages" }).press("End");
    await mismatch(v.page, length - 1).waitFor();
    await verified(v.page, length).waitFor();
    await v.accessible("a row that lies");
    await v.end();
  });

  it("for which there are no bytes stay unchecked, whatever was found of the chain", async () => {
    const v = await begin();
    await forge<Bytes>(v, "VerifyRows", (data) => {
      const range = (data.thread ?? data.session)?.range;
      if (range) Object.assign(range, { messages: range.messages.filter((m) => m.sequence !== 2) });
    });
    await verify(v);
    await verified(v.page, 3).waitFor();
    await article(v.page, 2).getByText("not checked", { exact: true }).waitFor();
    await v.end();
  });
});

// Reads the rows anew, under a filter that all of them match; what was verified stays as it is.
const readAnew = ({ page }: Visit) => page.evaluate(() => history.pushState(null, "", "?q=number"));

// Opens a message, and gives what the panel says of its integrity.
async function integrityOf({ page }: Visit, n: number): Promise<string> {
  await article(page, n).getByRole("button").click();
  await panelOf(page).getByRole("heading", { name: "Integrity" }).waitFor();
  return (await panelOf(page).innerText()).replace(/\s+/g, " ");
}

describe("a message that is altered in the database once the chain is checked", () => {
  const alter = (of: string, change: string) =>
    server.sql(`BEGIN; ALTER TABLE log.messages DISABLE TRIGGER ALL;
      UPDATE log.messages SET ${change} WHERE session_hash = '${of}' AND sequence = 2;
      ALTER TABLE log.messages ENABLE TRIGGER ALL; COMMIT`);

  it("is a mismatch in its row and when it is opened, though its hash fits what it is now", async () => {
    const [of = ""] = altered;
    const v = await begin(of);
    const asked = v.page.waitForResponse((r) => r.request().postData()?.includes("VerifyRows") ?? false);
    await verify(v);
    const { data } = (await (await asked).json()) as { data: Bytes };
    await verified(v.page, 2).waitFor();
    const was = data.session?.range.messages.find((m) => m.sequence === 2);
    const salt = server.sql(`SELECT encode(salt, 'hex') FROM log.messages WHERE hash = '${was?.hash}'`);
    const is = write({ ...(was as ChainMessage), ...lie, salt });
    const digest = sha256(fromBase64(is.integrity.contentPreimage ?? ""));
    alter(of, `content = '${lie.content}', content_digest = '${digest}', hash = '${is.hash}'`);
    await readAnew(v);
    await article(v.page, 2).getByText(lie.content).waitFor();
    await mismatch(v.page, 2).waitFor();
    await article(v.page, 2).getByText("Another message had this number").waitFor();
    await verified(v.page, 1).waitFor();
    const said = await integrityOf(v, 2);
    expect(said).toContain("Another message had this number");
    expect(said).not.toContain("Proved in this browser");
    await v.end();
  });

  it("is not proved beside being a mismatch, if its hash is what it was", async () => {
    const [, of = ""] = altered;
    const v = await begin(of);
    await verify(v);
    await verified(v.page, 2).waitFor();
    expect(await integrityOf(v, 2)).toContain("Proved in this browser");
    await v.page.keyboard.press("Escape");
    alter(of, `content = '${lie.content}'`);
    await readAnew(v);
    await article(v.page, 2).getByText(lie.content).waitFor();
    await mismatch(v.page, 2).waitFor();
    const said = await integrityOf(v, 2);
    expect(said).toContain("MISMATCH, computed in this browser");
    expect(said).toContain("No proof counts for what is shown here");
    expect(said).not.toContain("Proved in this browser");
    expect(said).not.toContain("Verify this message");
    await v.accessible("a message that lies");
    await v.end();
  });
});
