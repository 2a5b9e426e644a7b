import { type ReactNode, useLayoutEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { Actions } from "../actions/Actions";
import { Keys } from "../actions/Keys";
import { useOffered } from "../actions/useActions";
import { has } from "../api/rights";
import { useSession } from "../api/session";
import { Icon } from "../ui/icons";
import { t } from "../words";
import { Account } from "./Account";
import { EndedBanner } from "./Ended";
import { isAt, openTo, type Place } from "./places";
import { SealBanner } from "./SealBanner";
import styles from "./Shell.module.css";

/** The frame around every page: where one can go, who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const { identity } = useSession();
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useLayoutEffect(() => {
    // A reader by ear or keyboard starts at the top of the new page, as after any navigation, unless the page takes the
    // focus itself, which it does once it is laid out.
    if (before.current !== path) main.current?.focus();
    before.current = path;
  }, [path]);
  return (
    <Actions>
      <div className={styles.shell}>
        <a className={styles.skip} href="#main">
          {t("app.skip")}
        </a>
        <header className={styles.side}>
          <Link href="/" className={styles.brand} aria-label={t("app.name")}>
            <img src="/favicon.svg" alt="" width={22} height={22} />
            <span>{t("app.name")}</span>
          </Link>
          <Find />
          <nav className={styles.nav} aria-label={t("app.nav")}>
            {openTo(identity).map((place) => (
              <PlaceLink key={place.to} place={place} here={isAt(place, path)} />
            ))}
          </nav>
          <Account />
        </header>
        <main id="main" ref={main} tabIndex={-1} className={styles.main}>
          <EndedBanner />
          {has(identity, "verify") && <SealBanner />}
          {children}
        </main>
      </div>
    </Actions>
  );
}

// The way to the palette for who has a pointer, and to learn its key.
function Find() {
  const open = useOffered("palette.open");
  return (
    <button
      type="button"
      className={styles.find}
      title={t("actions.palette.open")}
      aria-keyshortcuts="Control+K Meta+K"
      onClick={open}
    >
      <Icon name="search" />
      <span className={styles.findWords}>{t("app.find")}</span>
      <Keys keys="Mod+K" />
    </button>
  );
}

function PlaceLink({ place: { to, icon, word, whole, apart }, here }: { place: Place; here: boolean }) {
  const props = {
    className: `${styles.place} ${apart ? styles.apart : ""}`,
    "aria-current": here ? ("page" as const) : undefined,
  };
  const inside = (
    <>
      <Icon name={icon} />
      {t(word)}
    </>
  );
  return whole ? (
    <a href={to} {...props}>
      {inside}
    </a>
  ) : (
    <Link href={to} {...props}>
      {inside}
    </Link>
  );
}
