import { useState } from "react";
import { Icon } from "../ui/icons";
import styles from "./ThemeSwitch.module.css";
import { chooseTheme, storedTheme, type Theme } from "./theme";

const choices = [
  { value: "system", icon: "system", word: "System" },
  { value: "light", icon: "sun", word: "Light" },
  { value: "dark", icon: "moon", word: "Dark" },
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
      <legend className={styles.hidden}>Theme</legend>
      {choices.map(({ value, icon, word }) => (
        <label key={value} className={styles.choice} title={`${word} theme`}>
          <input type="radio" name="theme" checked={theme === value} onChange={() => choose(value)} />
          <Icon name={icon} size={14} />
          <span className={styles.word}>{word}</span>
        </label>
      ))}
    </fieldset>
  );
}
