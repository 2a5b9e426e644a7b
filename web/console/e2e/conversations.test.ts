// Conversations: what is in memory, when it ends, and what a model would be asked next, token by token.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { narrowLooks } from "./looks";
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

const said = [
  ["Quiero ver zapatillas 👟, calzo el 43", "¿Alguna marca en particular?"],
  ["Que no sea cara", "Tengo tres modelos"],
] as const;

// Starts a conversation of a user's with an assistant, and records what both said.
async function begin(user: string, role = "CLIENT", exchanges: readonly (readonly [string, string])[] = said) {
  const { startConversation: c } = await server.ask<{ startConversation: { id: string } }>(
    "mutation ($r: ConversationRole!, $u: String!) { startConversation(role: $r, userId: $u) { id } }",
    { r: role, u: user },
  );
  for (const [u, a] of exchanges) {
    await server.ask(
      `mutation ($c: String!, $u: String!, $a: String!) {
        recordExchange(conversation: $c, user: $u, assistant: $a, state: { current_category: "zapatillas" }) { id } }`,
      { c: c.id, u, a },
    );
  }
  return c.id;
}

const open = (id: string) => `/conversations?id=${encodeURIComponent(id)}`;
const prompt = (v: Visit) => v.page.getByRole("region", { name: "Next prompt" });
const messages = (v: Visit) => v.page.getByRole("list", { name: "Its messages, in order" }).getByRole("listitem");

async function ask(v: Visit, input: string, budget: string): Promise<void> {
  await prompt(v).getByLabel("The user’s message").fill(input);
  await prompt(v).getByLabel("Role prompt").fill("Eres el asistente de la tienda.");
  await prompt(v).getByLabel("Rules").fill("Solo productos del catálogo.");
  await prompt(v).getByLabel("Token budget").fill(budget);
  await prompt(v).getByRole("button", { name: "Show the prompt" }).click();
}

describe("what is in memory", () => {
  it("is found by assistant and user, the latest first, and says nothing of other users or the other assistant", async () => {
    const first = await begin("42");
    const second = await begin("42", "CLIENT", []);
    await begin("42", "ADMIN", []);
    const v = await visit();
    await v.signIn("/conversations");
    await v.page.getByRole("heading", { name: "Whose conversations?" }).waitFor();
    await v.page.getByRole("textbox", { name: "User" }).fill("42");
    await v.page.getByRole("button", { name: "Show", exact: true }).click();
    await v.page.waitForURL(/user=42/);
    const rows = v.page.getByRole("article");
    await rows.first().waitFor();
    const links = await rows.getByRole("link").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    expect(links).toEqual([open(second), open(first)]);
    expect(await rows.nth(0).innerText()).toMatch(/nothing said yet[\s\S]*Expires in (29:\d\d|30:00)/);
    expect(await rows.nth(1).innerText()).toContain("4 turns");

    await v.page.getByText("With administrators").click();
    await v.page.waitForURL(/role=admin/);
    await expect.poll(() => rows.count()).toBe(1);
    await v.page.getByRole("textbox", { name: "User" }).fill("nobody");
    await v.page.keyboard.press("Enter");
    await v.page.getByRole("heading", { name: "Nothing is in memory" }).waitFor();
    await v.end();
  });

  it("is history with each message in the log, state, who and when, and where the log has it", async () => {
    const id = await begin("43");
    const v = await visit();
    await v.signIn(open(id));
    const turns = v.page.getByRole("list", { name: "History" }).getByRole("listitem");
    await turns.first().waitFor();
    await expect.poll(() => turns.count()).toBe(4);
    expect(await turns.nth(0).innerText()).toContain(said[0][0]);
    expect(await turns.nth(3).innerText()).toContain(said[1][1]);
    expect(await v.page.getByRole("region", { name: "State" }).innerText()).toContain(
      '"current_category": "zapatillas"',
    );
    await v.page.getByText("a session of 4 messages, its thread").waitFor();
    expect(await v.page.getByRole("timer").innerText()).toMatch(/^Expires in (29:\d\d|30:00)$/);
    expect(await v.page.getByRole("timer").getAttribute("aria-live")).toBe("off");
    await turns.nth(2).getByRole("link", { name: "Message #3" }).click();
    await v.page.getByRole("article").filter({ hasText: said[1][0] }).first().waitFor();
    await v.page.goBack();
    await v.page.getByRole("link", { name: "its thread" }).click();
    await v.page.waitForURL(/\/threads\/[0-9a-f]{64}/);
    await v.page.getByRole("article").nth(3).waitFor();
    await v.end();
  });

  it("is gone once the server says so, and only then", async () => {
    const id = await begin("44");
    const v = await visit();
    await v.signIn("/conversations");
    await v.page.clock.install({ time: Date.now() + 3_600_000 }); // a clock that is an hour ahead guesses wrong
    await v.go(open(id));
    await v.page.getByText("Its time is over: asking the server…").waitFor();
    await v.page.clock.runFor(6_000);
    await v.page.getByText(said[0][0]).waitFor();
    await expect.poll(() => v.page.getByText("It is no longer in memory").count()).toBe(0);
    await v.end();

    const w = await visit();
    await w.signIn("/settings");
    server.sql(`UPDATE memory.conversations SET expires_at = clock_timestamp() + INTERVAL '5 s' WHERE id = '${id}'`);
    await w.go(open(id));
    await w.page.getByText(/^Expires in 0:0\d$/).waitFor();
    await w.page.getByRole("heading", { name: "It is no longer in memory" }).waitFor();
    expect(await w.page.getByText(said[0][0]).count()).toBe(0);
    await w.page.getByRole("link", { name: "its session of 4 messages" }).click();
    await w.page.getByText(said[0][0]).first().waitFor();
    await w.end();
  });

  it("is shown to its user alone, who may not make prompts", async () => {
    const id = await begin("45");
    const player = server.sql("SELECT hash FROM core.players WHERE namespace = 'plu' AND key = 'client:45'");
    const stranger = server.sql("SELECT hash FROM core.players WHERE namespace = 'plu' AND key = 'client:42'");
    const token = async (of: string) =>
      (await server.makeToken({ kind: "CLIENT", player: of, scopes: ["log:read"], note: "a user" })).secret;
    const v = await visit();
    await v.signIn(open(id), await token(player));
    await v.page.getByText(said[0][0]).waitFor();
    await expect.poll(() => prompt(v).count()).toBe(0);
    await expect.poll(() => v.page.getByRole("button", { name: "Delete…" }).count()).toBe(0);
    await v.end();
    const w = await visit();
    await w.signIn(open(id), await token(stranger));
    await w.page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
    await w.end();
  });
});

describe("the next prompt", () => {
  it("is shown in order, token by token, with what each costs, and renews nothing", async () => {
    const id = await begin("46");
    const ends = server.sql(`SELECT expires_at FROM memory.conversations WHERE id = '${id}'`);
    const v = await visit();
    await v.signIn(open(id));
    await prompt(v).getByRole("button", { name: "Show the prompt" }).click();
    await expect.poll(() => prompt(v).getByText("It is needed.").count()).toBe(2);
    await ask(v, "¿Y en azul, señor?", "1000");
    await prompt(v).getByText("4 of 4 turns of the history are in.").waitFor();
    const parts = await messages(v).evaluateAll((all) => all.map((li) => li.getAttribute("data-part")));
    expect(parts.join(" ")).toBe("role rules state history history history history input");

    const shown = await messages(v).evaluateAll((all) =>
      all.map((li) => {
        const pieces = [...(li.querySelectorAll("p[aria-hidden] > span") ?? [])].map((s) => s.textContent ?? "");
        return {
          pieces,
          aloud: li.querySelector("p[aria-hidden]")?.previousElementSibling?.textContent,
          text: li.textContent,
        };
      }),
    );
    expect(shown[3]?.aloud).toBe(said[0][0]);
    expect(shown[7]?.pieces.join("")).toBe("¿Y en azul, señor?");
    for (const { pieces, aloud, text } of shown) {
      expect(pieces.join("")).toBe(aloud);
      expect(text).toContain(`${pieces.length} token`);
    }
    const sum = shown.reduce((n, { pieces }) => n + pieces.length, 0);
    await prompt(v).getByText(`${sum} of 1,000 tokens`).waitFor();

    await prompt(v).getByText("As text").click();
    expect(await messages(v).nth(7).innerText()).toContain("¿Y en azul, señor?");
    await expect.poll(() => messages(v).locator("p[aria-hidden]").count()).toBe(0);
    expect(server.sql(`SELECT expires_at FROM memory.conversations WHERE id = '${id}'`)).toBe(ends);
    await v.end();
  });

  it("leaves out the oldest history over the budget, and says what does not fit at all", async () => {
    const id = await begin("47");
    const v = await visit();
    await v.signIn(open(id));
    await ask(v, "¿Y en azul?", "50");
    await prompt(v).getByText("2 of 4 turns of the history are in.").waitFor();
    await ask(v, "¿Y en azul?", "10");
    await prompt(v).getByRole("alert").getByText("It does not fit into the budget").waitFor();
    await prompt(v).getByText("CONTEXT_WINDOW_EXCEEDED").waitFor();
    await v.end();
  });

  it("selects context on demand, keeps that as a selection, and says so beforehand", async () => {
    const old = Array.from({ length: 6 }, (_, i) => [`otra pregunta ${i}`, `otra respuesta ${i}`] as const);
    const id = await begin("48", "CLIENT", [...said, ...old]);
    const kept = () => Number(server.sql("SELECT count(*) FROM memory.selections"));
    const before = kept();
    const v = await visit();
    await v.signIn(open(id));
    await ask(v, "¿Qué número calzo?", "");
    await prompt(v).getByText("10 of 10 turns of the history are in.").waitFor();
    expect(kept()).toBe(before);
    await prompt(v).getByText("What is selected is kept as a selection, with its receipt.").waitFor();
    await prompt(v).getByLabel("Select relevant context").check();
    await prompt(v).getByLabel("What for").fill("calzo el 43");
    await prompt(v).getByLabel("Threshold").fill("0");
    await prompt(v).getByRole("button", { name: "Show the prompt" }).click();
    await prompt(v).getByText("Relevant context is in.").waitFor();
    expect(await messages(v).and(v.page.locator("[data-part=context]")).innerText()).toContain("calzo el 43");
    expect(kept()).toBe(before + 1);
    await v.end();
  });

  it("says that the conversation is gone if it ended meanwhile", async () => {
    const id = await begin("49");
    const v = await visit();
    await v.signIn(open(id));
    await prompt(v).waitFor();
    server.sql(`UPDATE memory.conversations SET expires_at = clock_timestamp() WHERE id = '${id}'`);
    await ask(v, "¿Y en azul?", "500");
    await v.page.getByRole("heading", { name: "It is no longer in memory" }).waitFor();
    await v.end();
  });
});

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

describe("erasing what was said", () => {
  const left = (id: string) =>
    server.sql(`SELECT count(content) FROM log.messages
      WHERE event_type <> 'erasure' AND session_hash = encode(sha256('${id}'::BYTEA), 'hex')`);
  const word = (v: Visit) => v.say("erase.type").replace("{word}", v.say("erase.word"));

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
    const id = await begin(
      "61",
      "CLIENT",
      Array.from({ length: 26 }, (_, i) => [`q ${i}`, `a ${i}`] as const),
    );
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
    await receipt.getByRole("button", { name: "Close" }).click();
    await v.page.getByRole("heading", { name: "It is no longer in memory" }).waitFor();
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.id)).toBe("main");
    await v.end(/Failed to load resource/);
  });
});

it("goes by keyboard alone, in Spanish", async () => {
  await begin("52");
  const v = await visit({ locale: "es-ES" });
  await v.signIn("/threads");
  await v.page.keyboard.press("g");
  await v.page.keyboard.press("v");
  await v.page.getByRole("heading", { name: "¿Las conversaciones de quién?" }).waitFor();
  await v.tabTo(/^Usuario$/);
  await v.page.keyboard.type("52");
  await v.page.keyboard.press("Enter");
  await v.page.getByText(/Caduca en/).waitFor();
  await v.tabTo(/^Activa /);
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("heading", { name: "El próximo prompt" }).waitFor();
  await v.tabTo(/^El mensaje del usuario$/);
  await v.page.keyboard.type("hola");
  await v.tabTo(/^Prompt de rol$/);
  await v.page.keyboard.type("Eres amable.");
  await v.tabTo(/^Mostrar el prompt$/);
  await v.page.keyboard.press("Enter");
  await v.page.getByText("Entran 4 de 4 turnos del historial.").waitFor();
  await v.end();
});

it("has no finding of axe", async () => {
  const id = await begin("look");
  const v = await visit();
  await v.signIn("/conversations?user=look");
  await v.everyLook("the list", v.page.getByRole("article"), narrowLooks);
  await v.go(open(id));
  await ask(v, "¿Y en azul? 🫎", "1000");
  await v.everyLook("a prompt", messages(v), narrowLooks);
  await v.end();
});
