import { useState } from "react";
import { Icon } from "../ui/icons";
import { t } from "../words";
import styles from "./ThemeSwitch.module.css";
import { chooseTheme, storedTheme, type Theme } from "./theme";

const choices = [
  { value: "system", icon: "system" },
  { value: "light", icon: "sun" },
  { value: "dark", icon: "moon" },
] as const;

/** Chooses between the system's theme, light and dark. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const choose = (value: Theme) => {
    chooseTheme(value);
    setTheme(value);
  };
  return (
    <fieldset className={styles.switch}>
      <legend className={styles.hidden}>{t("app.theme")}</legend>
      {choices.map(({ value, icon }) => (
        <label key={value} className={styles.choice} title={t(`app.theme.${value}.title`)}>
          <input type="radio" name="theme" checked={theme === value} onChange={() => choose(value)} />
          <Icon name={icon} size={14} />
          <span className={styles.word}>{t(`app.theme.${value}`)}</span>
        </label>
      ))}
    </fieldset>
  );
}
