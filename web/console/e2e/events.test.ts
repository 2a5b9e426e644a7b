// Events: the threads of an agent with a user, what happened in them, errors above all, and what a prompt would be given.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { narrowLooks } from "./looks";
import { type Server, startServer } from "./server";

let server: Server;
let browser: Browser;

const event = (thread: string, role: string, content: string, more: object = {}) => ({
  source: "n8n",
  agent: "jarvis",
  user_id: "user_42",
  channel: "webchat",
  thread_id: thread,
  role,
  content,
  ...more,
});
const failure = {
  event_type: "error",
  importance: 1,
  payload: { node: "HTTP Request", error_code: "E_TIMEOUT", run: { id: 7 } },
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  await server.deliver([
    event("hilo/1 a", "user", "Nunca menos de 20 grados", { importance: 2, tags: ["calefaccion"] }),
    event("hilo/1 a", "assistant", "Anotado"),
    event("hilo/1 a", "user", "¿Y las luces?"),
    event("hilo/1 a", "system", "El nodo no respondió", failure),
    event("hilo/1 a", "system", "Reiniciado", { event_type: "system" }),
    event("hilo/1 a", "assistant", "Apagadas"),
  ]);
  await server.deliver([event("hilo 2", "user", "Hola")]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const visit = (look?: Parameters<typeof Visit.begin>[2]) => Visit.begin(browser, server, look);
const thread = (show = "") =>
  `/events?${new URLSearchParams({ agent: "jarvis", user: "user_42", thread: "hilo/1 a" })}${show}`;
const rows = (v: Visit) => v.page.getByRole("main").getByRole("article");
const contents = (v: Visit) =>
  rows(v).evaluateAll((all) => all.map((a) => a.querySelector("header + p")?.textContent ?? ""));

describe("events", () => {
  it("are found by agent and user, thread by thread, the latest first", async () => {
    const v = await visit();
    await v.signIn("/events");
    await v.page.getByText("What events are, and how a program tells one").waitFor();
    await v.page.getByText("A web chat, an automation tool").waitFor();
    await v.page.getByRole("textbox", { name: "Agent" }).fill("jarvis");
    await v.page.getByRole("textbox", { name: "User" }).fill("user_42");
    await v.page.keyboard.press("Enter");
    await v.page.waitForURL(/agent=jarvis&user=user_42/);
    const items = v.page.getByRole("region", { name: "threads" }).getByRole("listitem");
    await items.first().waitFor();
    expect(await items.getByRole("link").allInnerTexts()).toEqual(["hilo 2", "hilo/1 a"]);
    expect(await items.nth(1).innerText()).toContain("6 events");
    await items.nth(1).getByRole("link").click();
    await v.page.getByRole("heading", { name: "hilo/1 a" }).waitFor();
    await rows(v).nth(5).waitFor();
    await v.page.getByRole("link", { name: "The thread in the log" }).click();
    await v.page.waitForURL(/\/threads\/[0-9a-f]{64}/);
    await v.page.getByText("El nodo no respondió").waitFor();
    await v.end();
  });

  it("stand in order, with errors marked in words and what came with them, importance and tags", async () => {
    const v = await visit();
    await v.signIn(thread());
    await rows(v).nth(5).waitFor();
    expect(await contents(v)).toEqual([
      "Nunca menos de 20 grados",
      "Anotado",
      "¿Y las luces?",
      "El nodo no respondió",
      "Reiniciado",
      "Apagadas",
    ]);
    expect(await rows(v).nth(0).innerText()).toMatch(/Very relevant[\s\S]*calefaccion[\s\S]*n8n, by webchat/);
    const error = rows(v).nth(3);
    expect(await error.innerText()).toMatch(
      /^Error\s[\s\S]*Relevant[\s\S]*error_code\s+E_TIMEOUT\s+node\s+HTTP Request/,
    );
    await error.getByText("All of the payload").click();
    expect(await error.getByRole("region", { name: "Payload" }).innerText()).toContain('"id": 7');
    expect(await rows(v).nth(4).innerText()).toMatch(/^System/);
    expect(await rows(v).nth(5).innerText()).not.toMatch(/Error|System/);

    await v.page.getByText("Errors only").click();
    await v.page.waitForURL(/show=errors/);
    await expect.poll(() => contents(v)).toEqual(["El nodo no respondió"]);
    await v.page.reload();
    await expect.poll(() => contents(v)).toEqual(["El nodo no respondió"]);
    await error.or(rows(v).first()).getByRole("link", { name: "Message #4" }).click();
    await v.page.getByRole("complementary", { name: "Message" }).getByText("E_TIMEOUT").waitFor();
    await v.end();
  });

  it("give a prompt what was said last, and mark what is kept for its importance", async () => {
    const v = await visit();
    await v.signIn(thread("&show=memory"));
    await v.page.getByText("4 messages, the oldest first; none is older").waitFor();
    expect(await contents(v)).toEqual(["Nunca menos de 20 grados", "Anotado", "¿Y las luces?", "Apagadas"]);
    await expect.poll(() => v.page.getByText("Kept for its importance").count()).toBe(0);
    await v.page.getByLabel("The last").fill("2");
    await v.page.getByLabel("And important ones before").fill("5");
    await v.page.getByRole("button", { name: "Show", exact: true }).click();
    await v.page.waitForURL(/last=2&keep=5/);
    await v.page.getByText("3 messages, the oldest first; 1 is older").waitFor();
    expect(await contents(v)).toEqual(["Nunca menos de 20 grados", "¿Y las luces?", "Apagadas"]);
    await expect.poll(() => rows(v).filter({ hasText: "Kept for its importance" }).count()).toBe(1);
    expect(await rows(v).nth(0).innerText()).toContain("Kept for its importance");
    await v.end();
  });

  it("show the newest errors of all, and lead to whose they are", async () => {
    await server.deliver([event("hilo 3", "assistant", "Otro fallo", failure)]);
    const v = await visit();
    await v.signIn("/events");
    await rows(v).first().waitFor();
    const newest = await contents(v);
    expect(newest.slice(0, 2)).toEqual(["Otro fallo", "El nodo no respondió"]);
    const link = rows(v).nth(0).getByRole("link", { name: "Threads of jarvis with user_42" });
    await link.click();
    await v.page.getByRole("link", { name: "hilo 3" }).waitFor();
    await v.end();
  });

  it("are shown of any thread, however many are later", async () => {
    const of = (n: number, content: string) => ({ ...event(`hilo ${n}`, "user", content), user_id: "user_of_many" });
    await server.deliver(Array.from({ length: 201 }, (_, n) => of(n, `mensaje ${n}`)));
    const v = await visit();
    await v.signIn("/events?agent=jarvis&user=user_of_many");
    const links = v.page.getByRole("region", { name: "threads" }).getByRole("link");
    await links.nth(199).waitFor();
    await expect.poll(() => links.filter({ hasText: /^hilo 0$/ }).count()).toBe(0);
    await v.go("/events?agent=jarvis&user=user_of_many&thread=hilo+0");
    await rows(v).first().waitFor();
    expect(await contents(v)).toEqual(["mensaje 0"]);
    await v.end();
  });

  it("say what there is none of: threads, a thread, errors", async () => {
    const v = await visit();
    await v.signIn("/events?agent=jarvis&user=nobody");
    await v.page.getByRole("heading", { name: "They have no thread" }).waitFor();
    await v.go("/events?agent=jarvis&user=user_42&thread=nowhere");
    await v.page.getByText(/NOT_FOUND/).waitFor();
    await v.go("/events?agent=jarvis&user=user_42&thread=hilo+2&show=errors");
    await v.page.getByRole("heading", { name: "There is no error" }).waitFor();
    await v.end();
  });

  it("are those that one takes part in, and nobody else's", async () => {
    const of = (key: string) => server.sql(`SELECT hash FROM core.players WHERE namespace = 'plu' AND key = '${key}'`);
    const stranger = server.sql("SELECT hash FROM core.players WHERE namespace = 'plu' AND key <> 'user_42' LIMIT 1");
    const token = async (player: string) =>
      (await server.makeToken({ kind: "CLIENT", player, scopes: ["log:read"], note: "a user" })).secret;
    const v = await visit();
    await v.signIn(thread(), await token(of("user_42")));
    await rows(v).nth(5).waitFor();
    await v.end();
    const w = await visit();
    await w.signIn(thread(), await token(stranger));
    await w.page.getByText(/NOT_FOUND/).waitFor();
    await w.end();
  });
});

it("goes by keyboard alone, in Spanish", async () => {
  const v = await visit({ locale: "es-ES" });
  await v.signIn("/threads");
  await v.page.keyboard.press("g");
  await v.page.keyboard.press("n");
  await v.page.getByRole("heading", { name: "Los errores más nuevos" }).waitFor();
  await v.tabTo(/^Agente$/);
  await v.page.keyboard.type("jarvis");
  await v.page.keyboard.press("Tab");
  await v.page.keyboard.type("user_42");
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("link", { name: "hilo/1 a" }).waitFor();
  await v.tabTo(/^hilo\/1 a$/);
  await v.page.keyboard.press("Enter");
  await rows(v).nth(5).waitFor();
  await v.tabTo(/^Todos los eventos$/);
  await v.page.keyboard.press("ArrowRight");
  await expect.poll(() => contents(v)).toEqual(["El nodo no respondió"]);
  expect(await rows(v).nth(0).innerText()).toMatch(/^Error/);
  await v.end();
});

it("has no finding of axe", async () => {
  const v = await visit();
  await v.signIn("/events");
  await v.everyLook("the newest errors", rows(v), narrowLooks);
  for (const show of ["", "&show=memory&last=2&keep=3"]) {
    await v.go(thread(show));
    await rows(v).first().waitFor();
    await v.page.locator("details").evaluateAll((all) => all.map((d) => d.setAttribute("open", "")));
    await v.everyLook(`a thread ${show}`, rows(v), narrowLooks);
  }
  await v.end();
});
