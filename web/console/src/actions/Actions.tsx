import { type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { useSession } from "../api/session";
import { Guard } from "../app/Guard";
import { openTo, type Place } from "../app/places";
import { chooseSingleKeys, singleKeys } from "../app/preferences";
import { chooseTheme } from "../app/theme";
import { chooseLanguage, lazily } from "../words";
import { listen } from "./listen";
import { Offers } from "./offers";
import { remember } from "./recent";
import { OffersContext, useAction } from "./useAction";

const Palette = lazily(() => import("./Palette"));
const Help = lazily(() => import("./Help"));

/** Gives all below it the registry of actions: they offer some, and its keys, palette and help sheet do them. */
export function Actions({ children }: { children: ReactNode }) {
  const offers = useMemo(() => new Offers(), []);
  useEffect(() => listen(offers, singleKeys), [offers]);
  return (
    <OffersContext value={offers}>
      {children}
      <Everywhere />
    </OffersContext>
  );
}

// What is offered on every page.
function Everywhere() {
  const { identity, leave } = useSession();
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  useAction("palette.open", () => setOpen("palette"));
  useAction("form.send", sendForm);
  useAction("help.open", () => setOpen("help"));
  useAction("keys.single", () => chooseSingleKeys(!singleKeys()));
  useAction("theme.system", () => chooseTheme("system"));
  useAction("theme.light", () => chooseTheme("light"));
  useAction("theme.dark", () => chooseTheme("dark"));
  useAction("language.en", () => void chooseLanguage("en").catch(() => undefined));
  useAction("language.es", () => void chooseLanguage("es").catch(() => undefined));
  useAction("session.leave", leave);
  // Whoever opens it types at once, and that is not to fall on the page while it loads.
  useEffect(() => {
    const soon = setTimeout(() => void import("./Palette").catch(() => undefined), 500);
    return () => clearTimeout(soon);
  }, []);
  // What was just opened from the one that closes stays.
  const closed = () => setOpen((now) => (now === open ? null : now));
  return (
    <>
      {openTo(identity).map((place) => (
        <Go key={place.to} {...place} />
      ))}
      <Opened />
      {open && (
        <Guard>
          <Suspense fallback={null}>
            {open === "palette" ? <Palette onClose={closed} /> : <Help onClose={closed} />}
          </Suspense>
        </Guard>
      )}
    </>
  );
}

// Sends the form that has the focus: by the button that has it, or else by its first. Enter alone makes a line in many fields. A
// button that does something else does that.
function sendForm(): boolean {
  const at = document.activeElement;
  const form = at?.closest("form");
  if (!form || (at instanceof HTMLButtonElement && at.type !== "submit")) return false;
  const button = at instanceof HTMLButtonElement ? at : form.querySelector<HTMLButtonElement>("button[type=submit]");
  if (!button?.disabled) form.requestSubmit(button);
  return true;
}

function Go({ action, to, whole }: Place) {
  const [, navigate] = useLocation();
  useAction(action, () => (whole ? window.location.assign(to) : navigate(to)));
  return null;
}

// Remembers the messages, sessions and threads that are opened.
function Opened() {
  const { identity } = useSession();
  const [path] = useLocation();
  useEffect(() => remember(identity.player, { to: path }), [identity.player, path]);
  return null;
}
