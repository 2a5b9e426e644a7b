import { allScopes } from "../../api/rights";
import { Button } from "../../ui/Button";
import { date, dateTime, until } from "../../ui/format";
import only from "../../ui/Heard.module.css";
import { Icon } from "../../ui/icons";
import { Avatar, PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import { endsSoon, kindWord } from "./draft";
import type { TokenRow } from "./query";
import styles from "./Row.module.css";

/** A token: whom it stands for, what it opens, and until when. own: it is the one that the reader signed in with. */
export function Row({ token, own, onRevoke }: { token: TokenRow; own: boolean; onRevoke: () => void }) {
  const whom = token.player.name ?? token.player.key ?? token.player.hash;
  return (
    <div className={styles.row} data-state={token.state}>
      <Avatar of={token.player} />
      <div className={styles.who}>
        <p className={styles.name}>
          <PlayerName player={token.player} />
          <span className={styles.kind} data-kind={token.kind}>
            {kindWord(token.kind)}
          </span>
          {own && <span className={styles.own}>{t("tokens.row.own")}</span>}
        </p>
        <p className={styles.note} dir="auto">
          {token.note || <i>{t("tokens.row.unnoted")}</i>}
        </p>
        <Scopes of={token.scopes} />
      </div>
      <div className={styles.facts}>
        <End token={token} />
        <p>
          {token.lastUsedAt ? (
            <T id="tokens.row.used" values={{ when: <Time at={token.lastUsedAt} as="ago" /> }} />
          ) : (
            t("tokens.row.unused")
          )}
        </p>
        <p>
          <T
            id="tokens.row.made"
            values={{ player: <PlayerName player={token.creator} />, when: <Time at={token.createdAt} /> }}
          />
        </p>
      </div>
      <div className={styles.act}>
        {token.state === "ACTIVE" && (
          <Button data-press="revoke" onClick={onRevoke}>
            {t("tokens.row.revoke")}
            <span className={only.heard}>
              {token.note
                ? t("tokens.row.revoke.noted", { name: whom, note: token.note })
                : t("tokens.row.revoke.of", { name: whom })}
            </span>
          </Button>
        )}
      </div>
    </div>
  );
}

function Scopes({ of }: { of: readonly string[] }) {
  return (
    <ul className={styles.scopes} aria-label={t("tokens.row.scopes")}>
      {of.length === allScopes.length ? (
        <li>{t("tokens.row.all")}</li>
      ) : (
        of.map((scope) => (
          <li key={scope}>
            <code>{scope}</code>
          </li>
        ))
      )}
    </ul>
  );
}

function End({ token }: { token: TokenRow }) {
  if (token.state === "REVOKED" && token.revokedAt) {
    return (
      <p className={styles.over}>
        <Icon name="erased" size={14} />
        <T id="tokens.row.revoked" values={{ when: <Time at={token.revokedAt} /> }} />
      </p>
    );
  }
  const when = (
    <time dateTime={token.expiresAt} title={dateTime(token.expiresAt)}>
      {token.state === "EXPIRED" ? date(token.expiresAt) : until(token.expiresAt, Date.now())}
    </time>
  );
  if (token.state === "EXPIRED") {
    return (
      <p className={styles.over}>
        <Icon name="erased" size={14} />
        <T id="tokens.row.expired" values={{ when }} />
      </p>
    );
  }
  if (!endsSoon(token, Date.now())) {
    return (
      <p>
        <T id="tokens.row.expires" values={{ when }} />
      </p>
    );
  }
  return (
    <p className={styles.soon}>
      <Icon name="warning" size={14} />
      <T id="tokens.row.soon" values={{ when }} />
    </p>
  );
}
