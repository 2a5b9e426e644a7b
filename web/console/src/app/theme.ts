import { useSyncExternalStore } from "react";
import { keep, usePreference } from "./preferences";

/** What the reader chose: the system's theme unless they say otherwise. */
export type Theme = "system" | "light" | "dark";

const key = "theme";

/** The choice kept in this browser. */
export function storedTheme(): Theme {
  const value = localStorage.getItem(key);
  return value === "light" || value === "dark" ? value : "system";
}

const dark = () => window.matchMedia("(prefers-color-scheme: dark)");

function onSystem(listener: () => void): () => void {
  const system = dark();
  system.addEventListener("change", listener);
  return () => system.removeEventListener("change", listener);
}

/** The theme that is shown: the choice, or what the system has now. For what cannot ask CSS. */
export function useShownTheme(): "light" | "dark" {
  const chosen = usePreference(storedTheme);
  const isDark = useSyncExternalStore(onSystem, () => dark().matches);
  return chosen === "system" ? (isDark ? "dark" : "light") : chosen;
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
