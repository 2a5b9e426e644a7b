import { useSyncExternalStore } from "react";
import { type Language, localeOf } from "./language";
import { language, onLanguage } from "./load";

export type { Id } from "./ids";
export { type Language, languages } from "./language";
export { lazily } from "./lazily";
export { chooseLanguage, ready } from "./load";
export { sayLost } from "./lost";
export { type Said, SaidError } from "./said";
export { say } from "./say";
export { T } from "./T";
export { t, type Values } from "./t";

/** The language of the console; draws the component again when it changes. */
export const useLanguage = (): Language => useSyncExternalStore(onLanguage, language);

/** The locale that numbers and times are written in now. */
export const locale = (): string => localeOf(language());
