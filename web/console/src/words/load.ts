import { setupI18n } from "@lingui/core";
import { firstLanguage, keepLanguage, type Language, localeOf } from "./language";

/** The messages of an area in one language, compiled: what Lingui shows without a parser. */
export type Compiled = Record<string, unknown[]>;
type Load = () => Promise<{ default: Compiled }>;

export const i18n = setupI18n({
  missing: (_, id) => {
    if (import.meta.env.DEV) throw new Error(`the words of ${id} are not there`);
    return id;
  },
});

const areas = new Map<string, Record<Language, Load>>();
const loaded = new Map<string, Promise<void>>(); // by language and area
const listeners = new Set<() => void>();
let wanted = firstLanguage();

/** Makes an area's words be loaded; the build calls it for each module that uses them. */
export function need(area: string, of: Record<Language, Load>): void {
  if (typeof document === "undefined") return; // a test, or a worker: these show nothing
  areas.set(area, of);
  void load(area, wanted).catch(() => undefined); // whoever waits for it hears of it
}

function load(area: string, language: Language): Promise<void> {
  const name = `${language}/${area}`;
  let coming = loaded.get(name);
  if (!coming) {
    const of = areas.get(area);
    if (!of) return Promise.resolve();
    coming = of[language]().then(({ default: messages }) => i18n.load(language, messages as never));
    loaded.set(name, coming);
    coming.catch(() => loaded.delete(name)); // asked for again next time
  }
  return coming;
}

/** Waits until the words are there of all that was imported so far. Rejects if they could not be loaded. */
export async function ready(): Promise<void> {
  const language = wanted;
  await Promise.all([...areas.keys()].map((area) => load(area, language)));
  if (language !== wanted) return ready();
  if (i18n.locale === language) return;
  i18n.activate(language, localeOf(language));
  if (typeof document !== "undefined") document.documentElement.lang = language;
  for (const listener of listeners) listener();
}

/** Shows the console in a language, and keeps the choice in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  const before = wanted;
  wanted = language;
  try {
    await ready();
    keepLanguage(language);
  } catch (error) {
    if (wanted === language) wanted = before;
    throw error;
  }
}

/** The language that words are shown in. */
export const language = (): Language => (i18n.locale === "es" ? "es" : "en");

/** Calls back whenever the language has changed; returns the way to stop it. */
export function onLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
