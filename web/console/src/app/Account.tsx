import { useId, useRef } from "react";
import { useQuery } from "urql";
import { Link, useLocation } from "wouter";
import { useOffered } from "../actions/useActions";
import { allScopes, has, isAdmin, roleWord, scopeWords, seesWords } from "../api/rights";
import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { Copy } from "../ui/Hash";
import only from "../ui/Heard.module.css";
import { Icon } from "../ui/icons";
import { Avatar, ComponentName, PlayerName, type Thing } from "../ui/Things";
import { T, t } from "../words";
import styles from "./Account.module.css";
import { LanguageSwitch } from "./LanguageSwitch";
import { auditSession, openTo } from "./places";
import { ThemeSwitch } from "./ThemeSwitch";

/** Who is signed in, what they may do, and the way out. */
export function Account() {
  const { identity, leave } = useSession();
  const menu = useId();
  const me = useMe();
  return (
    <div className={styles.account}>
      <ThemeSwitch />
      <LanguageSwitch />
      <button type="button" className={styles.who} popoverTarget={menu}>
        <Avatar of={me} small />
        <span className={styles.name}>
          <PlayerName player={me} />
          <span className={styles.role}>
            {roleWord(identity.role)}
            <span className={only.heard}>{t("app.account.may")}</span>
          </span>
        </span>
      </button>
      <Menu id={menu} me={me} />
      <button type="button" className={styles.leave} aria-label={t("app.account.leave")} onClick={leave}>
        <Icon name="leave" />
        <span>{t("app.account.leave")}</span>
      </button>
    </div>
  );
}

// The player who is signed in, with a name as soon as one is known.
function useMe(): Thing {
  const { identity } = useSession();
  const [{ data }] = useQuery({
    query: ComponentName,
    variables: { hash: identity.player },
    pause: !has(identity, "log:read"),
  });
  return data?.component ?? { __typename: "Player", hash: identity.player, name: null, key: null };
}

function Menu({ id, me }: { id: string; me: Thing }) {
  const { identity } = useSession();
  const [path] = useLocation();
  const box = useRef<HTMLElement>(null);
  const close = () => box.current?.hidePopover();
  const help = useOffered("help.open");
  const titled = `${id}title`;
  return (
    <section ref={box} id={id} popover="auto" className={styles.menu} aria-labelledby={titled}>
      <h2 id={titled}>
        <T id="app.account.titled" values={{ name: <PlayerName player={me} />, role: roleWord(identity.role) }} />
      </h2>
      <p>{seesWords(identity.role)}</p>
      <p className={styles.links}>
        <Copy text={identity.player} label={t("app.account.copy")} />
      </p>
      <ul className={styles.links}>
        {openTo(identity)
          .filter((p) => p.apart)
          .map((p) => (
            <li key={p.to} className={styles.narrow}>
              <Link href={p.to} onClick={close} aria-current={path === p.to ? "page" : undefined}>
                <Icon name={p.icon} />
                {t(p.word)}
              </Link>
            </li>
          ))}
        {isAdmin(identity) && (
          <li>
            <Link href={`/sessions/${auditSession(identity.player)}`} onClick={close}>
              <Icon name="records" />
              {t("app.account.audit")}
            </Link>
          </li>
        )}
      </ul>
      <p>
        <Button
          icon="tool"
          action="help.open"
          onClick={() => {
            close(); // what it opens returns the focus to what has it now
            help?.();
          }}
        />
      </p>
      <h3>{t("app.account.scopes")}</h3>
      <ul className={styles.scopes}>
        {allScopes.map((scope) => (
          <li key={scope} data-has={has(identity, scope)}>
            <Icon name={has(identity, scope) ? "check" : "close"} size={14} />
            <span>
              <code>{scope}</code>{" "}
              <span className={only.heard}>{t(has(identity, scope) ? "app.account.yes" : "app.account.no")}</span>
              {scopeWords(scope)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
