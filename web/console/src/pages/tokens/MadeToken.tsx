import { Button } from "../../ui/Button";
import { dateTime } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { PlayerName } from "../../ui/Things";
import { T, t } from "../../words";
import { curl, kindWord } from "./draft";
import styles from "./NewToken.module.css";
import type { Made } from "./query";

/** A token that was just made: its secret, which nobody can show again, and how to use it. */
export function MadeToken({ made: { secret, token }, onClose }: { made: Made; onClose: () => void }) {
  const example = curl(window.location.origin, secret, token.scopes);
  return (
    <div className={styles.body} data-secret>
      <p className={styles.once}>
        <Icon name="warning" />
        <span>
          <T id="tokens.once" />
        </span>
      </p>
      <div className={styles.secret}>
        <code>{secret}</code>
        <Copy text={secret} label={t("tokens.copy")} />
      </div>
      <p>
        <T
          id="tokens.made.of"
          values={{
            kind: kindWord(token.kind),
            player: <PlayerName player={token.player} />,
            when: dateTime(token.expiresAt),
            scopes: token.scopes.join(", "),
          }}
        />
      </p>
      <section className={styles.example} aria-labelledby="example">
        <h3 id="example">{t("tokens.try")}</h3>
        <pre>{example}</pre>
        <Copy text={example} label={t("tokens.try.copy")} />
        <p className={styles.hint}>
          <T id="tokens.history" />
        </p>
      </section>
      <Button look="primary" icon="check" onClick={onClose}>
        {t("tokens.copied")}
      </Button>
    </div>
  );
}
