import { keep } from "./preferences";

/** What the reader chose: the system's theme unless they say otherwise. */
export type Theme = "system" | "light" | "dark";

const key = "theme";

/** The choice kept in this browser. */
export function storedTheme(): Theme {
  const value = localStorage.getItem(key);
  return value === "light" || value === "dark" ? value : "system";
}

/** Shows a theme, without keeping it. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Shows a theme and keeps the choice in this browser. */
export function chooseTheme(theme: Theme): void {
  keep(key, theme === "system" ? null : theme);
  applyTheme(theme);
}
