import { allScopes } from "../../api/rights";
import { Button } from "../../ui/Button";
import { date, dateTime, until } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { Avatar, PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { endsSoon, kinds } from "./draft";
import type { TokenRow } from "./query";
import styles from "./Row.module.css";

/** A token: whom it stands for, what it opens, and until when. own: it is the one that the reader signed in with. */
export function Row({ token: t, own, onRevoke }: { token: TokenRow; own: boolean; onRevoke: () => void }) {
  return (
    <div className={styles.row} data-state={t.state}>
      <Avatar of={t.player} />
      <div className={styles.who}>
        <p className={styles.name}>
          <PlayerName player={t.player} />
          <span className={styles.kind} data-kind={t.kind}>
            {kinds[t.kind].word}
          </span>
          {own && <span className={styles.own}>you use it now</span>}
        </p>
        <p className={styles.note} dir="auto">
          {t.note || <i>no note</i>}
        </p>
        <Scopes of={t.scopes} />
      </div>
      <div className={styles.facts}>
        <End token={t} />
        <p>
          {t.lastUsedAt ? (
            <>
              Last used <Time at={t.lastUsedAt} as="ago" />
            </>
          ) : (
            "Never used"
          )}
        </p>
        <p>
          Made by <PlayerName player={t.creator} />, <Time at={t.createdAt} />
        </p>
      </div>
      <div className={styles.act}>
        {t.state === "ACTIVE" && (
          <Button onClick={onRevoke}>
            Revoke…
            <span className={styles.hidden}>
              the token of {t.player.name ?? t.player.key ?? t.player.hash}
              {t.note && `, ${t.note}`}
            </span>
          </Button>
        )}
      </div>
    </div>
  );
}

function Scopes({ of }: { of: readonly string[] }) {
  return (
    <ul className={styles.scopes} aria-label="Scopes">
      {of.length === allScopes.length ? (
        <li>all scopes</li>
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

function End({ token: t }: { token: TokenRow }) {
  if (t.state === "REVOKED" && t.revokedAt) {
    return (
      <p className={styles.over}>
        <Icon name="erased" size={14} />
        Revoked <Time at={t.revokedAt} />
      </p>
    );
  }
  const when = (
    <time dateTime={t.expiresAt} title={dateTime(t.expiresAt)}>
      {t.state === "EXPIRED" ? date(t.expiresAt) : until(t.expiresAt, Date.now())}
    </time>
  );
  if (t.state === "EXPIRED") {
    return (
      <p className={styles.over}>
        <Icon name="erased" size={14} />
        Expired {when}
      </p>
    );
  }
  if (!endsSoon(t, Date.now())) return <p>Expires {when}</p>;
  return (
    <p className={styles.soon}>
      <Icon name="warning" size={14} />
      Expires soon: {when}
    </p>
  );
}
