// Conversations that are deleted, and what was said in them erased.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { beginConversation, type Exchanges, open, said } from "./conversations";
import { forge } from "./forge";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);
const begin = (user: string, role?: string, exchanges?: Exchanges) => beginConversation(server, user, role, exchanges);

describe("deleting", () => {
  const messagesOf = (user: string) =>
    server.sql(`SELECT count(content) FROM log.messages WHERE '${user}' IN
      (SELECT substr(p.key, 8) FROM core.players p WHERE p.hash = owner_id OR p.hash = ANY(players_id))`);

  it("leaves a fresh one in its place, and what was said in the log", async () => {
    const id = await begin("50");
    const v = await visit();
    await v.signIn(open(id));
    await v.page.getByRole("button", { name: "Delete…" }).click();
    const dialog = v.page.getByRole("dialog", { name: "Delete this conversation?" });
    await dialog.getByText("What was said stays in the log.").waitFor();
    await v.accessible("the dialog");
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await v.page.getByText("Nothing was said yet.").waitFor();
    expect(v.page.url()).not.toContain(encodeURIComponent(id));
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.id)).toBe("main");
    expect(messagesOf("50")).toBe("4");
    await v.end();
  });

  it("that fails leaves the dialog to say so, and the page to show what is the case by then", async () => {
    const id = await begin("53");
    const v = await visit();
    await v.signIn(open(id));
    await v.page.getByRole("button", { name: "Delete…" }).click();
    const dialog = v.page.getByRole("dialog", { name: "Delete this conversation?" });
    // The server does it, and its answer is lost.
    await v.page.route("**/graphql", async (route) => {
      if (!route.request().postData()?.includes("mutation DeleteConversation")) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.getByRole("alert").getByText("UNREACHABLE").waitFor();
    await dialog.getByText("The server says that it is no longer in memory.").waitFor();
    expect(await dialog.getByRole("button", { name: "Delete", exact: true }).isDisabled()).toBe(true);
    await v.accessible("the dialog that failed");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await v.page.getByRole("heading", { name: "It is no longer in memory" }).waitFor();
    await v.end(/Failed to load resource/);
  });

  it("keeps its dialog until it can say what came of it, and gives the focus back", async () => {
    const id = await begin("54");
    const v = await visit();
    await v.signIn(open(id));
    const offer = v.page.getByRole("button", { name: "Delete…" });
    const focused = () => v.page.evaluate(() => document.activeElement?.textContent);
    const dialog = v.page.getByRole("dialog");
    for (const leave of ["Escape", "Cancel"]) {
      await offer.focus();
      await v.page.keyboard.press("Enter");
      await dialog.waitFor();
      if (leave === "Escape") await v.page.keyboard.press("Escape");
      else await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.waitFor({ state: "detached" });
      await expect.poll(focused).toBe("Delete…");
    }
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await v.page.route("**/graphql", async (route) => {
      if (!route.request().postData()?.includes("mutation DeleteConversation")) return route.continue();
      await held;
      await route.abort();
    });
    await v.page.keyboard.press("Enter");
    await v.tabTo(/^Delete$/);
    await v.page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Working…" }).waitFor();
    for (let i = 0; i < 3; i++) await v.page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Cancel" }).click({ force: true });
    await expect.poll(() => dialog.evaluate((d) => (d as HTMLDialogElement).open)).toBe(true);
    await v.accessible("a dialog at work");
    answer();
    await dialog.getByRole("alert").getByText("UNREACHABLE").waitFor();
    await v.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expect.poll(focused).toBe("Delete…");
    await v.page.getByText(said[0][0]).waitFor(); // nothing was done
    await v.end(/Failed to load resource/);
  });
});

it("what can be done with a conversation is in the palette and on the help sheet", async () => {
  const id = await begin("58");
  const v = await visit();
  await v.signIn(open(id));
  await v.page.getByText(said[0][0]).waitFor();
  const chosen = async (words: string) => {
    await v.page.keyboard.press("Control+k");
    const palette = v.page.getByRole("dialog", { name: "Find or do something" });
    await palette.waitFor();
    await v.page.keyboard.type(words);
    const active = palette.locator('[role="option"][aria-selected="true"]');
    await expect.poll(() => active.innerText()).toContain(words);
    await v.page.keyboard.press("Enter");
  };
  for (const [words, title] of [
    ["Erase what was said in the conversation", "Delete this conversation and erase what was said?"],
    ["Delete the conversation", "Delete this conversation?"],
  ] as const) {
    await chosen(words);
    const dialog = v.page.getByRole("dialog", { name: title, exact: true });
    await dialog.waitFor();
    await v.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  await v.page.keyboard.press("?");
  const help = v.page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.locator('li[data-here="true"]', { hasText: "Look at the conversation again" }).waitFor();
  await v.page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await server.ask("mutation ($id: String!) { deleteConversation(id: $id) { id } }", { id });
  await v.page.keyboard.press("r");
  await v.page.getByRole("heading", { name: "It is no longer in memory" }).waitFor();
  await v.end();
});

describe("erasing what was said", () => {
  const left = (id: string) =>
    server.sql(`SELECT count(content) FROM log.messages
      WHERE event_type <> 'erasure' AND session_hash = encode(sha256('${id}'::BYTEA), 'hex')`);
  const word = (v: Visit) => v.say("erase.type").replace("{word}", v.say("erase.word"));

  const many = Array.from({ length: 26 }, (_, i) => [`q ${i}`, `a ${i}`] as const); // more than one portion
  const confirm = async (v: Visit) => {
    await v.page.getByRole("button", { name: "Erase what was said…" }).click();
    const dialog = v.page.getByRole("dialog", { name: "Delete this conversation and erase what was said?" });
    await dialog.getByLabel(word(v)).fill("erase");
    await dialog.getByLabel("Reason, for the record").fill("why");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    return dialog;
  };

  it("counts what goes, takes a word and a reason, shows the record, and checks the chain again", async () => {
    const id = await begin("51");
    const v = await visit();
    await v.signIn(open(id));
    await v.page.getByRole("button", { name: "Erase what was said…" }).click();
    const dialog = v.page.getByRole("dialog", { name: "Delete this conversation and erase what was said?" });
    await expect
      .poll(async () => (await dialog.innerText()).replace(/\s+/g, " "))
      .toMatch(/What goes, for good:.*Contents that go 4 Contents erased before 0 Text \d+ B.*What stays:.*Backups/);
    const confirm = dialog.getByRole("button", { name: "Erase for good" });
    await dialog.getByLabel("Reason, for the record").fill("The user asked for it.");
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel(word(v)).fill("erase");
    await v.accessible("the dialog");
    await confirm.click();
    const receipt = v.page.getByRole("dialog", { name: "What was said is erased" });
    await receipt.getByText("4 contents are erased, each with a record of its own.").waitFor();
    const records = server.sql(`SELECT hash || ' ' || content FROM log.messages
      WHERE event_type = 'erasure' AND session_hash = encode(sha256('${id}'::BYTEA), 'hex') ORDER BY sequence`);
    expect(records.split("\n").map((r) => r.slice(65))).toEqual(Array(4).fill("The user asked for it."));
    await receipt.getByText(records.split("\n").at(-1)?.slice(0, 64) ?? "none").waitFor();
    await receipt.getByText("no break, 4 erased contents by digest only").first().waitFor();
    await v.accessible("the receipt");
    await receipt.getByRole("button", { name: "Close" }).click();
    await v.page.getByText("Nothing was said yet.").waitFor();
    expect(v.page.url()).not.toContain(encodeURIComponent(id));
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.id)).toBe("main");
    expect(left(id)).toBe("0");
    await v.end();
  });

  it("goes by keyboard alone, in Spanish, of one that is no longer in memory", async () => {
    const id = await begin("57");
    await server.ask("mutation ($id: String!) { deleteConversation(id: $id) { id } }", { id });
    const v = await visit({ locale: "es-ES" });
    await v.signIn(open(id));
    await v.page.getByRole("heading", { name: "Ya no está en memoria" }).waitFor();
    await v.page.getByText("Aún tiene 4 contenidos de lo dicho; no se borró nada.").waitFor();
    await v.accessible("the page of what is gone");
    await v.tabTo(/^Borrar lo dicho…$/);
    await v.page.keyboard.press("Enter");
    const dialog = v.page.getByRole("dialog", { name: "¿Borrar lo dicho en esta conversación?" });
    await dialog.getByText("Contenidos que desaparecen").waitFor();
    expect(await v.focused()).toBe("Para seguir, escribe BORRAR");
    await v.page.keyboard.type("borrar");
    await v.page.keyboard.press("Tab");
    await v.page.keyboard.type("Lo pidió.");
    await v.accessible("the dialog");
    await v.tabTo(/^Borrar para siempre$/);
    await v.page.keyboard.press("Enter");
    const receipt = v.page.getByRole("dialog", { name: "Lo dicho está borrado" });
    await receipt.getByText(/4 contenidos están borrados/).waitFor();
    await receipt.getByText("4 contenidos borrados solo por su resumen").first().waitFor();
    await v.accessible("the receipt");
    expect(left(id)).toBe("0");
    await v.page.keyboard.press("Escape");
    await v.page.getByText("Aún no se ha dicho nada.").waitFor();

    // Erased once, there is nothing left to erase, and that is said.
    await v.go(open(id));
    await v.page.getByText("No queda en ella nada de lo dicho; 4 están borrados.").waitFor();
    await v.tabTo(/^Borrar lo dicho…$/);
    await v.page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("no queda nada que borrar").waitFor();
    await dialog.getByLabel(word(v)).fill("borrar");
    await dialog.getByLabel("Motivo").fill("Otra vez.");
    expect(await dialog.getByRole("button", { name: "Borrar para siempre" }).isDisabled()).toBe(true);
    await v.accessible("the dialog with nothing to erase");
    await v.end();
  });

  it("that breaks off says what is left, and goes on", async () => {
    const id = await begin("61", "CLIENT", many);
    const v = await visit();
    await v.signIn(open(id));
    await v.page.getByRole("button", { name: "Erase what was said…" }).click();
    const dialog = v.page.getByRole("dialog", { name: "Delete this conversation and erase what was said?" });
    await dialog.getByLabel(word(v)).fill("erase");
    await dialog.getByLabel("Reason, for the record").fill("why");
    server.sql(`CREATE FUNCTION public.full() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END';
      CREATE TRIGGER zz_full BEFORE INSERT ON memory.conversations FOR EACH ROW EXECUTE FUNCTION public.full()`);
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    await dialog.getByRole("alert").getByText("UNAVAILABLE").waitFor();
    await dialog.getByText("2 contents are left, 50 are erased. Erase again to go on.").waitFor();
    await v.page.locator("h2", { hasText: "It is no longer in memory" }).waitFor(); // behind the dialog, whose title stays
    await v.accessible("the dialog that was broken off");
    server.sql("DROP TRIGGER zz_full ON memory.conversations");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    const receipt = v.page.getByRole("dialog", { name: "What was said is erased" });
    await receipt.getByText("2 contents are erased").waitFor();
    expect(left(id)).toBe("0");
    await v.end();
  });

  it("shows how far it came, and can be stopped between two portions", async () => {
    const id = await begin("63", "CLIENT", many);
    const v = await visit();
    await v.signIn(open(id));
    server.sql(`CREATE FUNCTION public.slow() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END';
      CREATE TRIGGER zz_slow BEFORE INSERT ON memory.conversations FOR EACH ROW EXECUTE FUNCTION public.slow()`);
    const dialog = await confirm(v);
    await dialog.getByText("50 of 52 contents are erased.").waitFor();
    expect(await dialog.getByRole("progressbar").getAttribute("value")).toBe("50");
    await v.accessible("a dialog that erases");
    await v.tabTo(/^Stop$/);
    await v.page.keyboard.press("Enter");
    await dialog.getByText("2 contents are left, 50 are erased. Erase again to go on.").waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(0); // it did not fail
    server.sql("DROP TRIGGER zz_slow ON memory.conversations"); // which waits for what still goes on
    expect(left(id)).toBe("2");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    await v.page.getByRole("dialog", { name: "What was said is erased" }).getByText("2 contents are erased").waitFor();
    expect(left(id)).toBe("0");
    await v.end();
  });

  it("goes on by itself where the time of a request is over", async () => {
    const id = await begin("64", "CLIENT", many);
    const v = await visit();
    await v.signIn(open(id));
    server.sql(`CREATE SEQUENCE public.tries;
      CREATE FUNCTION public.once() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN
        IF nextval(''public.tries'') = 1 THEN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END IF; RETURN NEW; END';
      CREATE TRIGGER zz_once BEFORE INSERT ON memory.conversations FOR EACH ROW EXECUTE FUNCTION public.once()`);
    await confirm(v);
    const receipt = v.page.getByRole("dialog", { name: "What was said is erased" });
    await receipt.getByText("52 contents are erased").waitFor();
    await receipt.getByText("has begun, and opens when you close this").waitFor();
    server.sql("DROP TRIGGER zz_once ON memory.conversations");
    expect(server.sql("SELECT last_value FROM public.tries")).toBe("2");
    expect(left(id)).toBe("0");
    await v.end();
  });

  it("that is refused, as somebody else has erased it by then, is not said to be done", async () => {
    const id = await begin("65");
    const v = await visit();
    await v.signIn(open(id));
    await v.page.route("**/graphql", async (route) => {
      if (!route.request().postData()?.includes("mutation EraseConversation")) return route.continue();
      await server.ask(
        'mutation ($id: String!) { deleteConversation(id: $id, eraseLog: true, reason: "other") { id } }',
        {
          id,
        },
      );
      await route.fulfill({ json: { data: null, errors: [{ message: "faster", extensions: { code: "CONFLICT" } }] } });
    });
    const dialog = await confirm(v);
    await dialog.getByRole("alert").getByText("CONFLICT").waitFor();
    await dialog.getByRole("alert").getByText("nothing is left to erase").waitFor();
    expect(await v.page.getByText("answer was lost").count()).toBe(0);
    await v.end();
  });

  it("whose record cannot be had is not said to have one below", async () => {
    const id = await begin("66");
    const v = await visit();
    await v.signIn(open(id));
    await forge<{ messages: { edges: object[] } }>(v, "ErasedConversation", ({ messages }) => {
      messages.edges = [];
    });
    await confirm(v);
    const receipt = v.page.getByRole("dialog", { name: "What was said is erased" });
    await receipt.getByText("4 contents are erased, each with a record of its own.", { exact: true }).waitFor();
    expect(await receipt.getByText(/The last/).count()).toBe(0);
    await v.end();
  });

  it("whose answer is lost is told of by what the server says afterwards", async () => {
    const id = await begin("62");
    const v = await visit();
    await v.signIn(open(id));
    await v.page.route("**/graphql", async (route) => {
      if (!route.request().postData()?.includes("mutation EraseConversation")) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await v.page.getByRole("button", { name: "Erase what was said…" }).click();
    const dialog = v.page.getByRole("dialog", { name: "Delete this conversation and erase what was said?" });
    await dialog.getByLabel(word(v)).fill("erase");
    await dialog.getByLabel("Reason, for the record").fill("why");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    const receipt = v.page.getByRole("dialog", { name: "What was said is erased" });
    await receipt.getByText("4 contents are erased").waitFor();
    await receipt.getByText("The server’s answer was lost").waitFor();
    await receipt.getByText("The last record of that:").waitFor();
    await receipt.getByRole("button", { name: "Close" }).click();
    await v.page.getByRole("heading", { name: "It is no longer in memory" }).waitFor();
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.id)).toBe("main");
    await v.end(/Failed to load resource/);
  });
});
