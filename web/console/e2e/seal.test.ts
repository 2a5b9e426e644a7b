import type { ResultOf } from "gql.tada";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { VerifyAgain, VerifyPage } from "../src/chain/query";
import type { NewestCheckpoint } from "../src/seal/query";
import { startBrowser, Visit } from "./browser";
import { flip, forge } from "./forge";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await startServer({ witnessed: true });
  browser = await startBrowser();
  await settled();
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);

// Waits until everything is in a tree that the witness has cosigned.
async function settled(): Promise<void> {
  const covered = () =>
    server.sql(`SELECT COALESCE(max(size), 0) = (SELECT count(*) FROM log.messages) FROM seal.cosignatures`);
  await vi.waitFor(() => expect(covered()).toBe("t"), { timeout: 30_000, interval: 100 });
}

// The longest session of the sample.
function longest(): { session: string; messages: number } {
  const [session = "", messages] = server
    .sql("SELECT session_hash, count(*) FROM log.messages GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1")
    .split("|");
  return { session, messages: Number(messages) };
}

const section = (v: Visit) => v.page.getByRole("region", { name: "Verification" });

async function verify(v: Visit): Promise<string> {
  await v.page.getByRole("button", { name: /^Verify( again)?$/ }).click();
  await section(v).getByText("The script that checked this").waitFor();
  return (await section(v).innerText()).replace(/\s+/g, " ");
}

describe("the states of messages", () => {
  it("are the server's word until they are verified, and then what this browser proved", async () => {
    const { session, messages } = longest();
    const v = await visit();
    await v.signIn(`/sessions/${session}`);
    const row = v.page.getByRole("article").first();
    await row.getByText("witnessed, says the server", { exact: true }).first().waitFor();
    await expect.poll(() => row.getByText("not checked", { exact: true }).count()).toBe(1);
    expect(await v.page.getByText("verified", { exact: true }).count()).toBe(0);
    await v.page.setViewportSize({ width: 390, height: 844 });
    await row.getByText("witnessed, says the server · not checked", { exact: true }).waitFor();
    await v.page.setViewportSize({ width: 1280, height: 800 });
    await settled(); // that it is read goes on record, too
    const sealed = server.sql("SELECT max(size) FROM seal.checkpoints");
    const said = await verify(v);
    expect(said).toContain(`Recomputed in this browser ${messages} of ${messages} no break`);
    expect(said).toMatch(
      new RegExp(
        `Proved in this browser ${messages} of ${messages} checkpoint of ${sealed} messages, \\d+ \\w+ \\d{4}`,
      ),
    );
    expect(said).toContain("saw the log’s key for the first time");
    expect(said).toContain("came from the very server");
    expect(said).toContain("verify FILE --key log.pub");
    await row.getByText("verified", { exact: true }).waitFor();
    const kept = await v.page.evaluate(() => localStorage.getItem("seal"));
    await v.page.setViewportSize({ width: 390, height: 844 });
    await row.getByText("witnessed, says the server · verified", { exact: true }).waitFor();
    const pin = JSON.parse(kept ?? "null") as { key: string; head: { size: number; signed: boolean } };
    expect(pin.key).toBe((await (await fetch(`${server.base}/log.pub`)).text()).trim());
    expect(pin.head).toMatchObject({ size: Number(sealed), signed: true });
    await v.end();
  });

  it("hold on a later visit, when the log has grown from what this browser checked", async () => {
    const { session } = longest();
    const v = await visit();
    await v.signIn(`/sessions/${session}`);
    await v.page.getByRole("article").first().waitFor();
    await settled(); // that it is read goes on record, too
    await verify(v);
    const before = server.sql("SELECT count(*) FROM log.messages");
    await server.append(session, "One more.");
    await settled();
    await v.page.reload();
    const said = await verify(v);
    expect(said).toContain("The key is the one that this browser pinned");
    expect(said).toContain(`The log extends the checkpoint of ${before} messages that was checked here`);
    expect(said).toContain(`checkpoint of ${Number(before) + 1} messages`);
    await v.end();
  });

  it("say of a message that is not in the tree yet that it is only chained", async () => {
    const { session } = longest();
    const v = await visit();
    await forge<ResultOf<typeof VerifyPage>>(v, "VerifyPage", (data) => {
      const last = data.session?.messages.edges.at(-1);
      if (last) Object.assign(last.node.integrity, { state: "CHAINED", leafIndex: null, proof: null });
    });
    await v.signIn(`/sessions/${session}`);
    expect(await verify(v)).toContain(", 1 only chained");
    await v.page.keyboard.press("Tab");
    await v.page.getByRole("region", { name: "messages" }).press("End");
    const last = v.page.getByRole("article").last();
    await last.getByText("chained", { exact: true }).first().waitFor();
    expect(await last.getByText("verified", { exact: true }).count()).toBe(0);
    await v.end();
  });
});

describe("a server that lies", () => {
  type Page = ResultOf<typeof VerifyPage>;
  type Newest = ResultOf<typeof NewestCheckpoint>;
  const nodes = (data: Page) => data.session?.messages.edges.map((e) => e.node) ?? [];

  it("with the proof of another message is named at that message", async () => {
    const { session, messages } = longest();
    const v = await visit();
    await forge<Page>(v, "VerifyPage", (data) => {
      const [, second, third] = nodes(data);
      if (!second || !third) throw new Error("no third message");
      second.integrity.proof = third.integrity.proof;
      second.integrity.leafIndex = third.integrity.leafIndex;
    });
    await v.signIn(`/sessions/${session}`);
    const said = await verify(v);
    expect(said).toContain(`Recomputed in this browser ${messages} of ${messages} no break`);
    expect(said).toContain("Proof mismatch at #2");
    expect(said).toContain("does not lead to the root that was signed");
    const row = v.page.getByRole("article", { name: "Message 2", exact: true });
    await row.getByText("MISMATCH", { exact: true }).first().waitFor();
    await expect
      .poll(() =>
        v.page.getByRole("article", { name: "Message 1", exact: true }).getByText("verified", { exact: true }).count(),
      )
      .toBe(1);
    await v.accessible("a forged proof");
    await v.end();
  });

  it("that a message is only chained is named by the later ones that are sealed", async () => {
    const { session } = longest();
    const v = await visit();
    const hide = (m: { sequence: number; integrity: object }) => {
      if (m.sequence === 2) Object.assign(m.integrity, { state: "CHAINED", leafIndex: null, proof: null });
    };
    await forge<Page>(v, "VerifyPage", (data) => nodes(data).forEach(hide));
    await forge<ResultOf<typeof VerifyAgain>>(v, "VerifyAgain", (data) => data.message && hide(data.message));
    await v.signIn(`/sessions/${session}`);
    const said = await verify(v);
    expect(said).toContain("Proof mismatch at #2");
    expect(said).toContain("It is not in the tree, and later messages of its session are.");
    await v.end();
  });

  const heads: [string, string, (data: Newest) => void][] = [
    [
      "a signature that does not hold",
      "NOT SIGNED",
      ({ seal }) => {
        if (seal.checkpoint) seal.checkpoint.note = seal.checkpoint.note.replace(/log .{90}/, (s) => flip(s, -10));
      },
    ],
    [
      "an older checkpoint",
      "ROLLED BACK",
      ({ seal }) => {
        const older = server.sql("SELECT note FROM seal.checkpoints ORDER BY size LIMIT 1");
        seal.checkpoint = { note: `${older}\n` };
      },
    ],
    ["nothing sealed", "ROLLED BACK", ({ seal }) => Object.assign(seal, { checkpoint: null })],
    ["another key", "OTHER KEY", ({ seal }) => Object.assign(seal, { publicKey: flip(seal.publicKey, -3) })],
  ];
  it.each(heads)("with %s is told so loudly, and nothing is called verified", async (_, title, change) => {
    const { session } = longest();
    const v = await visit();
    await v.signIn(`/sessions/${session}`);
    await verify(v);
    await forge<Newest>(v, "NewestCheckpoint", change);
    const said = await verify(v);
    expect(await section(v).getByRole("alert").innerText()).toContain(title);
    expect(said).toMatch(/Proved in this browser 0 of \d+ not checked/);
    expect(await v.page.getByText("verified", { exact: true }).count()).toBe(0);
    await v.page.getByRole("article").first().getByText("recomputed", { exact: true }).waitFor();
    await v.accessible(title);
    await v.end();
  });

  it("about how the log grew from what this browser remembers is told so", async () => {
    const { session } = longest();
    const v = await visit();
    await v.signIn(`/sessions/${session}`);
    await verify(v);
    await v.page.evaluate(() => {
      const pin = JSON.parse(localStorage.getItem("seal") ?? "{}") as { head: { size: number } };
      pin.head.size -= 7; // so the root that was kept is not that of the tree that the server shows of this size
      localStorage.setItem("seal", JSON.stringify(pin));
    });
    await verify(v);
    expect(await section(v).getByRole("alert").innerText()).toContain("FORKED");
    await v.go("/seal");
    await v.page.getByRole("region", { name: "What this browser knows" }).getByText("FORKED").waitFor();
    await v.page.getByRole("button", { name: "Trust what is shown now…" }).click();
    await v.page.getByRole("button", { name: "Forget, and pin what is shown now" }).click();
    await v.page.getByText("saw the log’s key for the first time").waitFor();
    await v.end();
  });
});

describe("a browser without Ed25519", () => {
  const plain = async () => {
    const v = await visit();
    await v.page.addInitScript(() => Object.defineProperty(crypto, "subtle", { value: undefined })); // as on plain http
    return v;
  };

  it("checks signatures by a file that comes only there, and verifies as any other", async () => {
    const { session, messages } = longest();
    const other = await visit();
    const asked: string[] = [];
    other.page.on("request", (r) => asked.push(r.url()));
    await other.signIn(`/sessions/${session}`);
    await verify(other);
    await other.end();
    expect(asked.filter((url) => url.includes("ed25519"))).toEqual([]);
    const v = await plain();
    await v.signIn(`/sessions/${session}`);
    await settled();
    expect(await verify(v)).toContain(`Proved in this browser ${messages} of ${messages} checkpoint`);
    await v.page.getByRole("article").first().getByText("verified", { exact: true }).waitFor();
    await forge<ResultOf<typeof NewestCheckpoint>>(v, "NewestCheckpoint", ({ seal }) => {
      if (seal.checkpoint) seal.checkpoint.note = seal.checkpoint.note.replace(/log .{90}/, (s) => flip(s, -10));
    });
    await verify(v);
    expect(await section(v).getByRole("alert").innerText()).toContain("NOT SIGNED");
    await v.end();
  });

  it("to which that file does not come says that the signature is not checked, and calls nothing verified", async () => {
    const { session } = longest();
    const v = await plain();
    await v.page.route("**/assets/ed25519-*.js", (route) => route.fulfill({ status: 404, body: "no" }));
    await v.signIn(`/sessions/${session}`);
    const said = await verify(v);
    expect(said).toContain("signature not checked by this browser");
    expect(await v.page.getByText("verified", { exact: true }).count()).toBe(0);
    await v.page.getByRole("article").first().getByText("proof fits", { exact: true }).waitFor();
    await v.accessible("without Ed25519");
    await v.end(/status of 404/);
  });
});

describe("the seal's page", () => {
  it("shows the log's name and key, its newest checkpoint, who witnesses it, and checks all of it", async () => {
    const v = await visit();
    await v.signIn();
    await v.page.getByRole("link", { name: "Seal" }).click();
    const page = v.page.getByRole("region", { name: "The seal" });
    await page.getByText("Sealing.").waitFor();
    const [key = "", size = "", root = ""] = server
      .sql(
        `SELECT l.public_key, c.size, encode(decode(c.root, 'hex'), 'base64') FROM seal.checkpoints c
         JOIN seal.logs l USING (origin) ORDER BY c.size DESC LIMIT 1`,
      )
      .split("|");
    const said = (await page.innerText()).replace(/\s+/g, " ");
    expect(said).toContain("console.example.org/log");
    expect(said).toContain(key);
    expect(said).toContain(`${size} messages, signed`);
    expect(said).toContain(root);
    expect(said).toMatch(new RegExp(`witness.example.org/1 http://\\S+ cosigned ${size} messages`));
    await page.getByText(`Checkpoint of ${size} messages checked by this browser`).waitFor();
    const listed = page.getByRole("region", { name: "Checkpoints" }).getByRole("listitem");
    await expect.poll(() => listed.count()).toBe(Number(server.sql("SELECT count(*) FROM seal.checkpoints")));
    await page.getByRole("button", { name: "Check the whole log" }).click();
    await page.getByText("no break, the server says").waitFor();
    const all = server.sql("SELECT count(*) FROM log.messages");
    expect((await page.innerText()).replace(/\s+/g, " ")).toContain(`${all} of ${all}`);
    await expect.poll(() => v.page.getByRole("alert").count()).toBe(0);
    await v.end();
  });
});
