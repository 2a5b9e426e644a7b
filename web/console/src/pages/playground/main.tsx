import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { signIn, takeToken, whoAmI } from "../../api/session";
import { applyTheme, storedTheme } from "../../app/theme";
import { ready, sayLost } from "../../words";
import "../../styles/global.css";
import { PlaygroundPage } from "./PlaygroundPage";

applyTheme(storedTheme());
const token = takeToken(window.location, window.history);
const first = token ? signIn(token) : whoAmI();
const root = document.getElementById("root");
if (root) {
  ready().then(
    () =>
      createRoot(root).render(
        <StrictMode>
          <PlaygroundPage first={first} />
        </StrictMode>,
      ),
    () => sayLost(root),
  );
}
