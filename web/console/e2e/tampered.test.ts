// A log that was altered as the database's superuser, below the server: what the console says of it. Each server is
// altered once, and is not what it was from then on.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { type Server, startServer } from "./server";

let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
});

const tables = ["leaves", "tiles", "trees", "checkpoints", "cosignatures"];
const unguarded = tables.map((t) => `ALTER TABLE seal.${t} DISABLE TRIGGER ALL;`).join(" ");

function longest(server: Server): string {
  return server.sql("SELECT session_hash FROM log.messages GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1");
}

async function verify(v: Visit): Promise<string> {
  await v.page.getByRole("button", { name: /^Verify( again)?$/ }).click();
  const section = v.page.getByRole("region", { name: "Verification" });
  await section.getByText("The script that checked this").waitFor();
  return (await section.innerText()).replace(/\s+/g, " ");
}

describe("leaves of the tree", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(async () => {
    await server?.stop();
  });

  it("that were altered leave no proof that holds, and the browser names the message", async () => {
    const session = longest(server);
    const v = await Visit.begin(browser, server);
    await v.signIn(`/sessions/${session}`);
    await verify(v);
    // That an administrator reads it is written into the log: once that is sealed, the tree stays as it is.
    const settled = "SELECT (SELECT max(size) FROM seal.checkpoints) = (SELECT count(*) FROM log.messages)";
    await expect.poll(() => server.sql(settled), { timeout: 10_000 }).toBe("t");
    expect(await verify(v)).toMatch(/Proved in this browser (\d+) of \1 checkpoint/);
    server.sql(`${unguarded} UPDATE seal.leaves SET message_hash = '${"f".repeat(64)}'
      WHERE session_hash = '${session}' AND sequence = 2`);
    const said = await verify(v);
    expect(said).toContain("Proof mismatch at #2");
    const row = v.page.getByRole("article", { name: "Message 2", exact: true });
    await row.getByText("MISMATCH", { exact: true }).first().waitFor();
    expect(said).toMatch(/Server says \d+ of \d+ \d+ break/);
    expect(said).toContain("Leaf mismatch at #2");
    await v.go("/seal");
    await v.page.getByRole("button", { name: "Check the whole log" }).click();
    const whole = v.page.getByRole("region", { name: "The whole log" });
    await whole.getByText("Leaf mismatch").first().waitFor();
    await v.accessible("the seal with breaks");
    await v.end();
  });
});

describe("a tree that was rolled back", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(async () => {
    await server?.stop();
  });

  // Puts log and tree back to what they were when the tree had size leaves, as an older dump that is restored would.
  function rollBack(size: number): void {
    const gone = `SELECT message_hash FROM seal.leaves WHERE leaf_index >= ${size}`;
    server.sql(`${unguarded}
      ALTER TABLE log.messages DISABLE TRIGGER ALL;
      DELETE FROM log.messages WHERE hash IN (${gone});
      DELETE FROM seal.leaves WHERE leaf_index >= ${size};
      DELETE FROM seal.checkpoints WHERE size > ${size};
      DELETE FROM seal.trees WHERE size > ${size};
      ALTER TABLE log.messages ENABLE TRIGGER ALL;`); // what administrators read is written into the log
  }

  it("is told on every page, in words, and goes on only under a new name by an administrator's word", async () => {
    const size = Number(server.sql("SELECT count(*) FROM log.messages"));
    const newest = () => Number(server.sql("SELECT COALESCE(max(size), 0) FROM seal.checkpoints"));
    await expect.poll(newest, { timeout: 10_000 }).toBe(size);
    await server.append(longest(server), "What will be lost.");
    await expect.poll(newest, { timeout: 10_000 }).toBe(size + 1);
    const v = await Visit.begin(browser, server);
    await v.signIn("/seal");
    await v.page.getByText("saw the log’s key for the first time").waitFor();
    rollBack(size);
    await v.page.getByText("REFUSED: the tree does not extend what was signed before").waitFor();
    for (const path of ["/threads", "/context", "/components", "/records", "/seal", "/playground"]) {
      await v.go(path);
      const banner = v.page.getByRole("alert").filter({ hasText: "the tree is REFUSED" });
      await banner.waitFor();
      expect(await banner.innerText()).toContain(String(size + 1));
    }
    expect((await fetch(`${server.base}/readyz`)).status).toBe(503);

    await v.go("/seal");
    await v.page.getByText("ROLLED BACK").waitFor();
    for (const theme of ["dark", "light"] as const) {
      await v.page.emulateMedia({ colorScheme: theme });
      await v.accessible(`a refused tree, ${theme}`);
    }
    await v.page.setViewportSize({ width: 390, height: 844 });
    await v.accessible("a refused tree, narrow");
    await v.page.setViewportSize({ width: 1280, height: 800 });
    const before = server.sql("SELECT public_key FROM seal.logs ORDER BY id DESC LIMIT 1");
    await v.page.getByRole("button", { name: "Accept this tree…" }).click();
    const dialog = v.page.getByRole("dialog");
    expect(await dialog.innerText()).toContain("What it means:");
    await dialog.getByLabel("Reason, for the record").fill("The disk broke; this is the newest dump.");
    await v.accessible("the dialog");
    await dialog.getByRole("button", { name: "Accept, under a new name" }).click();
    await dialog.waitFor({ state: "detached" });
    await v.page.getByText("Sealing.").waitFor();
    await v.page.getByText("OTHER KEY").waitFor(); // this browser pinned the old one
    expect(server.sql("SELECT reason FROM seal.logs ORDER BY id DESC LIMIT 1")).toContain("The disk broke");
    const after = server.sql("SELECT public_key FROM seal.logs ORDER BY id DESC LIMIT 1");
    expect(after).not.toBe(before);
    await v.page.getByRole("button", { name: "Trust what is shown now…" }).click();
    await v.page.getByRole("button", { name: "Forget, and pin what is shown now" }).click();
    await v.page.getByText("checked by this browser").waitFor();
    await v.go("/threads");
    await v.page.getByRole("listitem").first().waitFor();
    expect(await v.page.getByText("is REFUSED").count()).toBe(0);
    await v.go(`/sessions/${longest(server)}`);
    expect(await verify(v)).toMatch(/Proved in this browser (\d+) of \1 checkpoint of \d+ messages/);
    await v.end();
  });
});
