import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { looks } from "./looks";
import { type Server, startServer } from "./server";
import { type Model, startModel, Webchat } from "./webchat";

// The example of docs/examples/webchat, as a visitor meets it.
let server: Server;
let browser: Browser;
let model: Model;
let chat: Webchat; // with that model
let scripted: Webchat; // with its own

beforeAll(async () => {
  [server, browser, model] = await Promise.all([startServer(), startBrowser(), startModel()]);
  chat = new Webchat(server, ["-model-url", model.url, "-model", "test"]);
  scripted = new Webchat(server, []);
  await Promise.all([chat.start(), scripted.start()]);
});

afterAll(async () => {
  model?.stop();
  await Promise.all([chat?.remove(), scripted?.remove(), browser?.close()]);
  await server?.stop();
});

type Look = Parameters<typeof Visit.begin>[2];

async function visit(to: Webchat, look: Look = {}): Promise<Visit> {
  const v = await Visit.begin(browser, { ...server, base: to.base }, { locale: "es-ES", ...look });
  await v.go("/");
  return v;
}

const box = (v: Visit) => v.page.getByLabel("Tu mensaje");
const said = (v: Visit) => v.page.getByRole("log").locator("p").allInnerTexts();
const idle = (v: Visit) => v.page.locator("#log[aria-busy=false]").waitFor();

async function say(v: Visit, text: string): Promise<void> {
  await idle(v);
  await box(v).fill(text);
  await box(v).press("Enter");
  await idle(v);
}

/** The messages of the log with a text. */
const recorded = (text: string) => Number(server.sql(`SELECT count(*) FROM log.messages WHERE content = '${text}'`));

describe.each(looks)("the web chat, $theme, $width wide", ({ theme, width, height }) => {
  it("answers in Spanish, and remembers across a reload", async () => {
    const v = await visit(scripted, { theme, width, height });
    expect(await v.page.evaluate(() => document.documentElement.lang)).toBe("es");
    await idle(v);
    await v.accessible("an empty chat");
    await say(v, "Quiero ver zapatillas");
    await say(v, "¿Qué quería <b>ver</b>?");
    const before = await said(v);
    expect(before).toHaveLength(4);
    expect(before[0]).toBe("Tú\nQuiero ver zapatillas");
    expect(before[1]).toContain("un modelo con guion, y esto no es una respuesta de verdad");
    expect(before[3]).toContain("Has escrito: «¿Qué quería <b>ver</b>?». Con ello he recibido 2 mensajes anteriores");
    expect(await v.page.locator("#log b").count()).toBe(0);
    await v.page.reload();
    await idle(v);
    expect(await said(v)).toEqual(before);
    expect(await v.cutOff()).toEqual([]);
    await v.accessible("a chat");
    await v.end();
  });
});

describe("the web chat", () => {
  it("is for the keyboard, in English as well, and begins anew", async () => {
    const v = await visit(scripted, { locale: "en-GB" });
    await idle(v);
    expect(await v.focused()).toBe("Your message");
    await v.page.keyboard.type("one");
    await v.page.keyboard.press("Shift+Enter");
    await v.page.keyboard.type("two");
    await v.tabTo(/^Send$/);
    await v.page.keyboard.press("Enter");
    await v.page.getByText("I am no AI but a scripted model").waitFor();
    expect((await said(v))[0]).toBe("You\none\ntwo");
    await idle(v);
    await v.page.getByRole("button", { name: "New chat" }).click();
    await idle(v);
    expect(await said(v)).toEqual([]);
    await v.page.reload();
    await idle(v);
    expect(await said(v)).toEqual([]);
    await v.end();
  });

  it.each([
    ["MODEL_ERROR", 30_000, () => 500, /no puede responder ahora/],
    ["MODEL_TIMEOUT", 1500, () => null, /ha tardado demasiado/],
  ])(
    "says so when the model fails with %s, writes it as an event, and tries again",
    async (code, limit, answer, honest) => {
      await chat.stop();
      await chat.start("-model-timeout", `${limit}ms`);
      const text = `¿Tenéis el 43? ${code}`;
      const v = await visit(chat);
      model.answer = answer;
      await say(v, text);
      await v.page.getByRole("status").getByText(honest).waitFor();
      await v.accessible("a failure");
      expect(await said(v)).toEqual([]);
      expect(await box(v).inputValue()).toBe(text);
      expect(recorded(text)).toBe(0);

      type Failure = { content: string; role: string; importance: number; attachments: Record<string, unknown> };
      const query =
        "{ messages(filter: {eventTypes: [ERROR]}, last: 5) { edges { node { content role importance attachments hashtags { key } } } } }";
      const { messages } = await server.ask<{ messages: { edges: { node: Failure }[] } }>(query);
      const failure = messages.edges.map((e) => e.node).find((m) => m.attachments.error_code === code);
      expect(failure).toMatchObject({
        role: "system",
        importance: 1,
        attachments: { timeout_ms: limit, endpoint: `${model.url}/chat/completions` },
        hashtags: [{ key: "error" }, { key: code.toLowerCase() }],
      });

      // It is kept across a reload, and sent again is recorded once.
      await v.page.reload();
      await v.page.getByRole("status").getByText("Tu mensaje no tuvo respuesta").waitFor();
      expect(await box(v).inputValue()).toBe(text);
      await box(v).press("Enter");
      await v.page.getByRole("button", { name: "Reintentar" }).waitFor();
      model.answer = () => "Sí, en tres colores";
      await chat.stop();
      await chat.start(); // it keeps nothing itself
      await v.page.getByRole("button", { name: "Reintentar" }).dblclick();
      await v.page.getByText("Sí, en tres colores").waitFor();
      await idle(v);
      expect(await said(v)).toEqual([`Tú\n${text}`, "Asistente\nSí, en tres colores"]);
      expect(await box(v).inputValue()).toBe("");
      expect(recorded(text)).toBe(1);
      await v.end(/console: Failed to load resource: the server responded with a status of 50[24]/);
    },
  );

  it("finds the answer of a message that was under way when the page was left", async () => {
    const text = "¿Y en rojo?";
    const v = await visit(chat);
    let answer = (_: string) => {};
    const asked = new Promise<void>((reached) => {
      model.answer = () => {
        reached();
        return new Promise((resolve) => {
          answer = resolve;
        });
      };
    });
    await idle(v);
    await box(v).fill(text);
    await box(v).press("Enter");
    await asked;
    await v.page.getByRole("status").getByText("está respondiendo").waitFor();
    const sent = v.page.waitForRequest(/api\/message$/);
    await v.page.reload();
    await sent; // the same again
    answer("También en rojo");
    model.answer = () => "Quizá en azul"; // if the first was recorded before the second came
    await v.page.getByText("También en rojo").waitFor();
    await idle(v);
    expect(await said(v)).toEqual([`Tú\n${text}`, "Asistente\nTambién en rojo"]);
    expect(recorded(text)).toBe(1);
    await v.end();
  });

  it("keeps two tabs in order, and visitors apart", async () => {
    model.answer = (asked) => `Dicho: ${asked.messages.filter((m) => m.role === "user").map((m) => m.content)}`;
    const v = await visit(chat);
    await say(v, "uno");
    const other = Object.assign(Object.create(v) as Visit, { page: await v.page.context().newPage() });
    await other.page.goto(chat.base);
    await idle(other);
    expect(await said(other)).toHaveLength(2); // the latest
    await Promise.all([say(v, "dos"), say(other, "tres")]);
    await Promise.all([v.page.reload(), other.page.reload()]);
    await Promise.all([idle(v), idle(other)]);
    const all = await said(v);
    expect(all).toHaveLength(6);
    expect(await said(other)).toEqual(all);
    expect(all.filter((t) => t.startsWith("Tú")).sort()).toEqual(["Tú\ndos", "Tú\ntres", "Tú\nuno"]);

    const stranger = await visit(chat);
    await idle(stranger);
    expect(await said(stranger)).toEqual([]);
    await say(stranger, "cuatro");
    expect((await said(stranger))[1]).toBe("Asistente\nDicho: cuatro");
    await stranger.end();
    await v.end();
  });

  it("says that a conversation has expired, and goes on with a new one", async () => {
    model.answer = (asked) => `Turnos: ${asked.messages.filter((m) => m.role !== "system").length}`;
    const v = await visit(chat);
    await say(v, "antes");
    const expire = () =>
      server.sql(
        "UPDATE memory.conversations SET created_at = now() - interval '2 hours', last_activity = now() - interval '2 hours', expires_at = now() - interval '1 hour'",
      );
    expire();
    await say(v, "después");
    const ended = "La última conversación ha terminado; esta es nueva.";
    expect((await said(v)).slice(2)).toEqual([ended, "Tú\ndespués", "Asistente\nTurnos: 1"]);
    expect(recorded("después")).toBe(1);
    expire();
    await v.page.reload();
    await idle(v);
    expect(await said(v)).toEqual([ended]);
    await v.end(/console: Failed to load resource: the server responded with a status of 410/);
  });

  it("says that it is away, and loses nothing", async () => {
    model.answer = () => "Aquí estoy";
    const v = await visit(chat);
    await say(v, "hola");
    await chat.stop();
    await say(v, "¿Hay alguien?");
    await v.page.getByRole("status").getByText("El chat no responde").waitFor();
    await chat.start();
    await v.page.getByRole("button", { name: "Reintentar" }).click();
    await v.page.getByText("¿Hay alguien?").waitFor();
    await idle(v);
    expect(await said(v)).toHaveLength(4);
    expect(recorded("¿Hay alguien?")).toBe(1);
    await v.end(/console: Failed to load resource: net::ERR_CONNECTION_REFUSED/);
  });
});
