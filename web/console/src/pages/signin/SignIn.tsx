import type { SessionState } from "../../api/session";
import { LanguageSwitch } from "../../app/LanguageSwitch";
import { ThemeSwitch } from "../../app/ThemeSwitch";
import { useTitle } from "../../app/title";
import styles from "./SignIn.module.css";
import { TokenForm } from "./TokenForm";

type Props = { reason?: string | undefined; onState: (state: SessionState) => void };

/** Asks for the token of whoever is not signed in. */
export function SignIn({ reason, onState }: Props) {
  useTitle("Sign in");
  return (
    <main className={styles.page}>
      <section className={styles.card} aria-labelledby="sign-in">
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <h1 id="sign-in">Sign in</h1>
        <p className={styles.lead}>To the context manager’s console, with an access token.</p>
        <TokenForm reason={reason} describedBy="token-help" onState={onState} />
        <p id="token-help" className={styles.help}>
          An administrator gives you one. The first administrator’s was in the address that the server printed when it
          first started, and is in <code>admin.token</code> in its data directory.
        </p>
      </section>
      <ThemeSwitch />
      <LanguageSwitch />
    </main>
  );
}
