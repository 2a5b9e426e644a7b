import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import { expect, it } from "vitest";
import { sources, uses } from "./uses";

type Catalogue = Record<string, string>;

const folder = new URL(".", import.meta.url).pathname;
const areasOf = (language: string) => readdirSync(join(folder, language)).map((name) => name.replace(/\.json$/, ""));
const read = (language: string, area: string) =>
  JSON.parse(readFileSync(join(folder, language, `${area}.json`), "utf8")) as Catalogue;

const areas = areasOf("en");
const messages = (language: string): Map<string, string> =>
  new Map(areas.flatMap((a) => Object.entries(read(language, a)).map(([key, m]) => [`${a}.${key}`, m] as const)));
const english = messages("en");

// The places of a message with how each is formatted, and its tags.
function parts(message: string): string[] {
  const found = new Set<string>();
  const walk = (tokens: unknown[]): void => {
    for (const token of tokens) {
      if (typeof token === "string") for (const [tag] of token.matchAll(/<\/?\w+\/?>/g)) found.add(tag);
      if (!Array.isArray(token)) continue;
      const [name, type, cases] = token as [string, string?, Record<string, unknown>?];
      const choices = type === "select" ? Object.keys(cases ?? {}).sort() : [];
      found.add([`{${name}}`, type, ...choices].filter((x) => x && x !== "offset").join(" "));
      if (type === "plural" && !(cases && "other" in cases)) found.add("a plural without other");
      for (const inside of Object.values(type === "plural" || type === "select" ? (cases ?? {}) : {})) {
        if (Array.isArray(inside)) walk(inside);
      }
    }
  };
  walk(compileMessageOrThrow(message));
  return [...found].sort();
}

const places = (message: string) =>
  new Set(
    parts(message)
      .filter((p) => p.startsWith("{"))
      .map((p) => p.slice(1, p.indexOf("}"))),
  );

it("has the same areas, keys, places and tags in both languages", () => {
  expect(areasOf("es")).toEqual(areas);
  for (const area of areas) {
    const [en, es] = [read("en", area), read("es", area)];
    expect(Object.keys(es).sort(), area).toEqual(Object.keys(en).sort());
    for (const [key, message] of Object.entries(en)) {
      // A place may be formatted otherwise, as where only one language has another word for one.
      const bare = (m: string) => [...places(m), ...parts(m).filter((p) => p.startsWith("<"))].sort();
      expect(bare(es[key] ?? ""), `${area}.${key}`).toEqual(bare(message));
      expect((es[key] ?? "").trim() === "", `${area}.${key} is empty`).toBe(message.trim() === "");
    }
  }
});

it("has no key that nothing uses", () => {
  const literals = new Set(sources.flatMap((s) => uses(s).literals));
  const patterns = sources.flatMap((s) => uses(s).patterns);
  const unused = [...english.keys()].filter((id) => !literals.has(id) && !patterns.some((p) => p.test(id)));
  expect(unused).toEqual([]);
});

it("has every key that is used, with the values that its message has", () => {
  for (const source of sources) {
    for (const { id, values, line } of uses(source).calls) {
      const message = english.get(id);
      const where = `${source.name}:${line} ${id}`;
      expect(message, where).toBeDefined();
      if (values) expect([...values].sort(), where).toEqual([...places(message ?? "")].sort());
    }
  }
});

it("asks for no words while a module is loaded, when there are none", () => {
  expect(sources.flatMap((s) => uses(s).early.map((line) => `${s.name}:${line}`))).toEqual([]);
});

it("draws components in memo again in another language, and waits for the words of lazy ones", () => {
  for (const { name, text } of sources) {
    if (/\bmemo\(/.test(text)) expect(text.includes("useLanguage("), name).toBe(true);
    if (!name.startsWith("words/")) expect(text, name).not.toMatch(/\blazy\b.*from "react"/);
  }
});
