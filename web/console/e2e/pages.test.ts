// Every page of the console, in both themes and both languages: as good to read for all, and pictured for docs/console.md
// when PICTURES names the folder.
import { existsSync, readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, Visit } from "./browser";
import { wide } from "./looks";
import { prepare, type Sample, type Scene, scenes, verify } from "./scenes";
import { type Server, startServer } from "./server";
import { englishOn } from "./words";

const pictures = process.env.PICTURES;

let server: Server;
let browser: Browser;
let sample: Sample;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer({ witnessed: true }), startBrowser()]);
  sample = await prepare(server);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

// Looks at a page as it is: each theme, then as narrow and as wide as windows are.
async function look(v: Visit, { name, language }: { name: string; language: string }): Promise<void> {
  await v.everyLook(`${name}, ${language}`, v.page.locator("body"), wide);
  if (pictures && language === "en") {
    for (const way of wide) {
      await v.seen(way);
      await v.quiet();
      await v.page.screenshot({ path: `${pictures}/${name}-${way.theme}.png` });
    }
  }
  if (language === "es") expect(await englishOn(v.page), `English on ${name}`).toEqual([]);
  for (const width of [320, 2560]) {
    await v.seen({ ...wide[0], width });
    expect(await v.cutOff(), `cut off on ${name}, ${width} wide`).toEqual([]);
  }
  await v.seen(wide[0]);
  expect(v.complaints, name).toEqual([]);
}

const languages = [
  { language: "en", locale: "en-GB" },
  { language: "es", locale: "es-ES" },
] as const;

describe.each(languages)("every page, in $language", ({ language, locale }) => {
  let v: Visit;
  beforeAll(async () => {
    v = await Visit.begin(browser, server, { locale });
  });
  afterAll(async () => {
    await v?.end();
  });

  it("signing in", async () => {
    await v.go("/");
    await v.page.getByRole("heading", { name: v.say("signin.title") }).waitFor();
    await look(v, { name: "sign-in", language });
    await v.signIn("/settings");
  });

  it.each(scenes.map((scene): [string, Scene] => [scene.name, scene]))("%s", async (name, scene) => {
    await scene.open(v, sample, v.say);
    expect(await v.page.locator("html").getAttribute("lang")).toBe(language);
    await look(v, { name, language });
  });
});

// Last: from here on the log is not what it was.
describe("a chain with a message that was altered below the server", () => {
  beforeAll(() => {
    server.sql(`ALTER TABLE log.messages DISABLE TRIGGER ALL;
      UPDATE log.messages SET content = content || ' No deposit.' WHERE hash = '${sample.message}';
      ALTER TABLE log.messages ENABLE TRIGGER ALL`); // what administrators read is written into the log
  });

  it.each(languages)("in $language", async ({ language, locale }) => {
    const v = await Visit.begin(browser, server, { locale });
    await v.signIn(`/sessions/${sample.session}`);
    await verify(v, v.say);
    await v.page
      .getByRole("button", { name: v.say("thread.verify.show") })
      .first()
      .click();
    await v.page.getByText(v.say("thread.state.mismatch"), { exact: true }).first().waitFor();
    await look(v, { name: "chain-mismatch", language });
    await v.end();
  });
});

it("the guide shows each of them, light and dark", () => {
  const docs = new URL("../../../docs/", import.meta.url).pathname;
  const shown = readFileSync(`${docs}console.md`, "utf8").match(/console\/[\w-]+\.png/g) ?? [];
  const names = ["sign-in", ...scenes.map((s) => s.name), "chain-mismatch"];
  expect([...shown].sort()).toEqual(names.flatMap((n) => wide.map((w) => `console/${n}-${w.theme}.png`)).sort());
  expect(shown.filter((path) => !existsSync(docs + path))).toEqual([]);
});
