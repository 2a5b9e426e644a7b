import buttons from "../ui/Button.module.css";
import styles from "../ui/Screen.module.css";
import { firstLanguage, type Language } from "./language";

// The only words that are in no catalogue: those for when the catalogues do not come.
const said: Record<Language, { title: string; detail: string; again: string }> = {
  en: {
    title: "The console's words did not load",
    detail: "The server did not give them, or nobody answered. Nothing of the log is lost.",
    again: "Try again",
  },
  es: {
    title: "No se han cargado los textos de la consola",
    detail: "El servidor no los ha dado, o nadie ha respondido. Del registro no se ha perdido nada.",
    again: "Volver a intentarlo",
  },
};

/** Says, in place of everything else, that the words could not be loaded, with a way to try again. */
export function sayLost(root: HTMLElement): void {
  const language = firstLanguage();
  const { title, detail, again } = said[language];
  document.documentElement.lang = language;
  document.title = title;
  const heading = make("h1", title);
  const button = make("button", again);
  button.type = "button";
  button.className = buttons.button ?? "";
  button.onclick = () => window.location.reload(); // what a browser could not import once, it does not ask for again
  const screen = make("div", "");
  screen.className = styles.screen ?? "";
  screen.role = "alert";
  screen.append(heading, make("p", detail), button);
  const main = make("main", "");
  main.append(screen);
  root.replaceChildren(main);
  button.focus();
}

function make<K extends keyof HTMLElementTagNameMap>(name: K, text: string): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
