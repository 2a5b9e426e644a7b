// Every message of a session has something wrong with it: all of it is counted, the first of it is listed, and the server is
// not asked more often than it takes.
import { createHash } from "node:crypto";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startBrowser, Visit } from "./browser";
import { forge } from "./forge";
import { type Server, startServer } from "./server";

const length = 2_500;
const hash = (of: string) => createHash("sha256").update(of).digest("hex");
const session = hash("a session of the bulk test");

type Message = { integrity: { proof: string | null } };
type Page = { session: { messages: { edges: { node: Message }[] } } };

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = [await startServer(), await startBrowser()];
  const ownerId = server.sql("SELECT hash FROM core.players ORDER BY hash LIMIT 1");
  for (let from = 0; from < length; from += 500) {
    const messages = Array.from({ length: 500 }, (_, i) => ({
      sessionHash: session,
      threadHash: session,
      ownerId,
      content: `Number ${from + i + 1}.`,
    }));
    await server.ask("mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", { m: messages });
  }
  const sealed = "SELECT (SELECT max(size) FROM seal.checkpoints) = (SELECT count(*) FROM log.messages)";
  await vi.waitFor(() => expect(server.sql(sealed)).toBe("t"), { timeout: 20_000, interval: 200 });
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const verification = (v: Visit) => v.page.getByRole("region", { name: "Verification" });

async function verify(v: Visit): Promise<string> {
  await v.page.getByRole("button", { name: "Verify", exact: true }).click();
  await verification(v).getByText("The script that checked this").waitFor({ timeout: 60_000 });
  return (await verification(v).innerText()).replace(/\s+/g, " ");
}

const asked = (v: Visit, what: string) => {
  const requests: unknown[] = [];
  v.page.on("request", (r) => (r.url().includes(what) || r.postData()?.includes(what)) && requests.push(r));
  return requests;
};

it("proofs that are withheld are asked for again until it is clear that they are, and not each of them", async () => {
  const v = await Visit.begin(browser, server);
  const bare = (m: Message | null) => m && Object.assign(m.integrity, { proof: null });
  await forge<Page>(v, "VerifyPage", ({ session: of }) => {
    for (const { node } of of.messages.edges) bare(node);
  });
  await forge<{ message: Message | null }>(v, "VerifyAgain", ({ message }) => bare(message));
  const again = asked(v, "VerifyAgain");
  await v.signIn(`/sessions/${session}`);
  const said = await verify(v);
  expect(said).toContain("Recomputed in this browser 2,500 of 2,500 no break");
  expect(said).toContain("Proved in this browser 0 of 2,500 at least 100 breaks");
  expect(again).toHaveLength(100);
  await verification(v).getByText("The server says that it is sealed, and gives no proof.").first().waitFor();
  await v.end();
});

// Last: from here on the log is not what it was.
it("every message of a session that was altered is counted, the first of them are listed, and each is marked", async () => {
  server.sql(`BEGIN; ALTER TABLE log.messages DISABLE TRIGGER ALL;
    UPDATE log.messages SET channel = 'elsewhere' WHERE session_hash = '${session}';
    ALTER TABLE log.messages ENABLE TRIGGER ALL; COMMIT`);
  const v = await Visit.begin(browser, server);
  const [stretches, pages] = [asked(v, "/stretch?"), asked(v, "VerifyPage")];
  await v.signIn(`/sessions/${session}`);
  const said = await verify(v);
  expect(said).toContain("Recomputed in this browser 2,500 of 2,500 2,500 breaks");
  expect(said).toContain("Proved in this browser 0 of 2,500 2,500 breaks");
  expect(said).toContain("Server says 2,500 of 2,500 at least 1,000 breaks");
  const group = (name: string) => verification(v).getByRole("heading", { name }).locator("..");
  const ours = group("Found by this browser");
  expect(await ours.getByRole("listitem").count()).toBe(100);
  await ours.getByText("and 4,900 more", { exact: true }).waitFor();
  await ours.getByText("Altered: its channel.").first().waitFor();
  await group("Reported by the server").getByText("and at least 900 more", { exact: true }).waitFor();
  expect(pages).toHaveLength(length / 100);
  expect(stretches.length).toBeLessThan(length / 100 + 15);
  const last = v.page.getByRole("article", { name: `Message ${length}`, exact: true });
  await v.page.getByRole("article").first().getByRole("button").focus();
  await v.page.keyboard.press("End");
  await last.getByText("MISMATCH", { exact: true }).first().waitFor();
  await v.accessible("a chain with more breaks than are listed");
  await v.end();
});
