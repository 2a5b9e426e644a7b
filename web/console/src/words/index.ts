import { useSyncExternalStore } from "react";
import type { Id } from "./ids";
import { type Language, localeOf } from "./language";
import { i18n, language, onLanguage } from "./load";
import { mask, unmask } from "./mask";

export type { Id } from "./ids";
export { type Language, languages } from "./language";
export { lazily } from "./lazily";
export { chooseLanguage, ready } from "./load";
export { T } from "./T";

/** What stands in a message's places, by name. */
export type Values = Readonly<Record<string, string | number>>;

/** A message in the reader's language. To be called while a component is drawn, never once for a module. */
export const t = (id: Id, values: Values = {}): string => unmask(i18n._(id, mask(values)));

/** The language of the console; draws the component again when it changes. */
export const useLanguage = (): Language => useSyncExternalStore(onLanguage, language);

/** The locale that numbers and times are written in now. */
export const locale = (): string => localeOf(language());
