// The console's words, as its pages are to show them: for tests that read pages in both languages.
import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";

export type Language = "en" | "es";

/** Says a message of a language by its id, "seal.whole.check", as its catalogue has it. Throws if there is none. */
export type Say = (id: string) => string;

const folder = new URL("../src/words/", import.meta.url).pathname;
const read = (language: Language) =>
  new Map<string, string>(
    readdirSync(`${folder}${language}`).flatMap((name) => {
      const area = name.replace(/\.json$/, "");
      const messages = JSON.parse(readFileSync(`${folder}${language}/${name}`, "utf8")) as Record<string, string>;
      return Object.entries(messages).map(([key, message]) => [`${area}.${key}`, message] as const);
    }),
  );
const catalogues = { en: read("en"), es: read("es") };

export const sayIn =
  (language: Language): Say =>
  (id) => {
    const message = catalogues[language].get(id);
    if (message === undefined) throw new Error(`no message ${id} in ${language}`);
    return message;
  };

// What a message says between its places and tags. Cases of plurals and selections are left out.
const piecesOf = (message: string): string[] => {
  if (/\{\w+, (plural|select)/.test(message)) return [];
  return message.split(/<[^>]*>|\{[^}]*\}/).map((piece) => piece.trim());
};
const wordsIn = (text: string) => text.match(/\p{L}{2,}/gu)?.length ?? 0;

const spanish = [...catalogues.es.values()];
// English that nobody could take for Spanish, or for what the log holds: whole texts, and pieces of three words or more.
const whole = new Set([...catalogues.en.values()].filter((m) => !/[{<]/.test(m) && !spanish.includes(m)));
const pieces = [...new Set([...catalogues.en.values()].flatMap(piecesOf))].filter(
  (piece) => wordsIn(piece) > 2 && !spanish.some((m) => m.includes(piece)),
);

/** What a page says in the console's own English: none of it should be on a page in Spanish. */
export async function englishOn(page: Page): Promise<string[]> {
  return (await texts(page)).filter((text) => whole.has(text) || pieces.some((piece) => text.includes(piece)));
}

// The texts of a page, each element's own, with what names it and what stands in its empty fields.
const texts = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [document.title.split(" · ")[0] ?? ""];
    for (const e of document.querySelectorAll("body *:not(script)")) {
      // What says so itself, as the server's words do; what is typed into an editor; texts of others, cut into tokens.
      if (e.closest("[lang]")?.getAttribute("lang") === "en" || e.closest(".monaco-editor, [data-pieces]")) continue;
      for (const n of e.childNodes) if (n.nodeType === Node.TEXT_NODE) found.push(n.textContent ?? "");
      for (const a of ["aria-label", "aria-description", "aria-valuetext", "title", "placeholder", "alt"]) {
        found.push(e.getAttribute(a) ?? "");
      }
    }
    return found.map((t) => t.trim()).filter((t) => t !== "");
  });
