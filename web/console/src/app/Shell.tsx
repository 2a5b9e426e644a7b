import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { useSession } from "../api/session";
import { short } from "../ui/format";
import { Icon, type IconName } from "../ui/icons";
import { SealBanner } from "./SealBanner";
import styles from "./Shell.module.css";
import { ThemeSwitch } from "./ThemeSwitch";

const places: { to: string; icon: IconName; word: string; whole?: boolean }[] = [
  { to: "/threads", icon: "threads", word: "Threads" },
  { to: "/context", icon: "context", word: "Context" },
  { to: "/components", icon: "components", word: "Components" },
  { to: "/records", icon: "records", word: "Records" },
  { to: "/seal", icon: "sealed", word: "Seal" },
  // A document of its own: its editor needs a looser content policy than the rest of the console.
  { to: "/playground", icon: "playground", word: "Playground", whole: true },
];

/** The frame around every page: where one can go, who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    // A reader by ear or keyboard starts at the top of the new page, as after any navigation.
    if (before.current !== path) main.current?.focus();
    before.current = path;
  }, [path]);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.side}>
        <Link href="/threads" className={styles.brand}>
          <img src="/favicon.svg" alt="" width={22} height={22} />
          Context manager
        </Link>
        <nav className={styles.nav} aria-label="Main">
          {places.map(({ to, icon, word, whole }) => {
            const here = path === to || path.startsWith(`${to}/`) || (to === "/threads" && /^.(sess|mess)/.test(path));
            const props = { className: styles.place, "aria-current": here ? ("page" as const) : undefined };
            const inside = (
              <>
                <Icon name={icon} />
                {word}
              </>
            );
            return whole ? (
              <a key={to} href={to} {...props}>
                {inside}
              </a>
            ) : (
              <Link key={to} href={to} {...props}>
                {inside}
              </Link>
            );
          })}
        </nav>
        <Account />
      </header>
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <SealBanner />
        {children}
      </main>
    </div>
  );
}

function Account() {
  const { identity, leave } = useSession();
  return (
    <div className={styles.account}>
      <ThemeSwitch />
      <p className={styles.who}>
        <Icon name="player" />
        <span>
          {identity.role}
          {identity.player && <code title={identity.player}> {short(identity.player)}</code>}
        </span>
      </p>
      <button type="button" className={styles.leave} aria-label="Sign out" onClick={leave}>
        <Icon name="leave" />
        <span>Sign out</span>
      </button>
    </div>
  );
}
