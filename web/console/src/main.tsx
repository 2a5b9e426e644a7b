import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { arrive, takeToken } from "./api/session";
import { App } from "./app/App";
import { applyTheme, storedTheme } from "./app/theme";
import { ready, sayLost } from "./words";
import "./styles/global.css";

applyTheme(storedTheme());
const first = arrive(takeToken(window.location, window.history));
const root = document.getElementById("root");
if (root) {
  ready().then(
    () =>
      createRoot(root).render(
        <StrictMode>
          <App first={first} />
        </StrictMode>,
      ),
    () => sayLost(root),
  );
}
