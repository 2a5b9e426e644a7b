import only from "../ui/Heard.module.css";
import { Icon } from "../ui/icons";
import { t } from "../words";
import { usePreference } from "./preferences";
import styles from "./ThemeSwitch.module.css";
import { chooseTheme, storedTheme } from "./theme";

const choices = [
  { value: "system", icon: "system" },
  { value: "light", icon: "sun" },
  { value: "dark", icon: "moon" },
] as const;

/** Chooses between the system's theme, light and dark. group: tells two on one page apart. */
export function ThemeSwitch({ group = "" }: { group?: string }) {
  const theme = usePreference(storedTheme);
  return (
    <fieldset className={styles.switch}>
      <legend className={only.heard}>{t("app.theme")}</legend>
      {choices.map(({ value, icon }) => (
        <label key={value} className={styles.choice} title={t(`app.theme.${value}.title`)}>
          <input type="radio" name={`theme${group}`} checked={theme === value} onChange={() => chooseTheme(value)} />
          <Icon name={icon} size={14} />
          <span className={styles.word}>{t(`app.theme.${value}`)}</span>
        </label>
      ))}
    </fieldset>
  );
}
