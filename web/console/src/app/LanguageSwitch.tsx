import only from "../ui/Heard.module.css";
import { chooseLanguage, languages, t, useLanguage } from "../words";
import styles from "./ThemeSwitch.module.css";

/** Chooses the language of the console. The page keeps its data: only the words change. group: tells two on one page apart. */
export function LanguageSwitch({ group = "" }: { group?: string }) {
  const language = useLanguage();
  return (
    <fieldset className={styles.switch}>
      <legend className={only.heard}>{t("app.language")}</legend>
      {languages.map(({ value, name }) => (
        <label key={value} className={styles.choice} lang={value}>
          <input
            type="radio"
            name={`language${group}`}
            checked={language === value}
            onChange={() => void chooseLanguage(value).catch(() => undefined)}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
