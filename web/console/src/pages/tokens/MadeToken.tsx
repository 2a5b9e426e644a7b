import { Button } from "../../ui/Button";
import { dateTime } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { Icon } from "../../ui/icons";
import { PlayerName } from "../../ui/Things";
import { curl, kinds } from "./draft";
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
          <b>This is shown now and never again.</b> The server keeps only its SHA-256. Copy it to where it is used, and
          nowhere else.
        </span>
      </p>
      <div className={styles.secret}>
        <code>{secret}</code>
        <Copy text={secret} label="Copy the token" />
      </div>
      <p>
        {kinds[token.kind].word} of <PlayerName player={token.player} />, until {dateTime(token.expiresAt)}:{" "}
        {token.scopes.join(", ")}.
      </p>
      <section className={styles.example} aria-labelledby="example">
        <h3 id="example">Try it</h3>
        <pre>{example}</pre>
        <Copy text={example} label="Copy the command" />
        <p className={styles.hint}>
          A shell keeps what is typed in its history: with tokens that live long, put the header into a file and pass{" "}
          <code>-H @file</code>.
        </p>
      </section>
      <Button look="primary" icon="check" onClick={onClose}>
        I have copied it
      </Button>
    </div>
  );
}
