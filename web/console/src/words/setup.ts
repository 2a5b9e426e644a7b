// For tests outside a browser: every word, in English until a test chooses otherwise.
import all from "words:all";
import { localeOf } from "./language";
import { i18n } from "./load";

for (const [language, messages] of Object.entries(all)) i18n.load(language, messages as never);
i18n.activate("en", localeOf("en"));
