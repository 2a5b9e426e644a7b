/** A language of the console. */
export type Language = "en" | "es";

/** The languages, each by its own name. */
export const languages: readonly { value: Language; name: string }[] = [
  { value: "en", name: "English" },
  { value: "es", name: "Español" },
];

// How numbers and times are written: alike for everyone who reads a language, so that a page says the same to all.
const locales: Record<Language, string> = { en: "en-GB", es: "es-ES" };

/** The locale that Intl writes a language's numbers and times in. */
export const localeOf = (language: Language): string => locales[language];

const key = "language";
const isLanguage = (value: unknown): value is Language => value === "en" || value === "es";

/** The language to begin with: that kept in this browser, else the first of the browser's that the console has. */
export function firstLanguage(): Language {
  if (typeof localStorage === "undefined") return "en"; // tests outside a browser
  const kept = localStorage.getItem(key);
  if (isLanguage(kept)) return kept;
  return navigator.languages.map((l) => l.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

/** Keeps a choice in this browser. */
export const keepLanguage = (language: Language): void => localStorage.setItem(key, language);
