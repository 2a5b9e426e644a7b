// Conversations: what is in memory, when it ends, and what a model would be asked next, token by token.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { beginConversation, type Exchanges, open, said } from "./conversations";
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

const begin = (user: string, role?: string, exchanges?: Exchanges) => beginConversation(server, user, role, exchanges);
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

  it("says that there may be more where the server lists no more", async () => {
    const user = `many-${crypto.randomUUID()}`; // one who has none, also when this is tried again
    const start = (many: number) => {
      const each = (n: number) => `c${n}: startConversation(role: CLIENT, userId: "${user}") { id }`;
      return server.ask(`mutation { ${Array.from({ length: many }, (_, n) => each(n)).join(" ")} }`, {});
    };
    for (let n = 0; n < 49; n++) await start(20); // as many as one mutation may have
    await start(19);
    const v = await visit();
    await v.signIn(`/conversations?user=${user}`);
    await v.page.getByRole("article").first().waitFor();
    const notice = v.page.getByText(/The list ends at the latest 1,000/);
    expect(await notice.count()).toBe(0);
    await start(2);
    await v.page.reload();
    await notice.waitFor();
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
