import type { SessionState } from "../../api/session";
import { LanguageSwitch } from "../../app/LanguageSwitch";
import { ThemeSwitch } from "../../app/ThemeSwitch";
import { useTitle } from "../../app/title";
import { T, t } from "../../words";
import styles from "./SignIn.module.css";
import { TokenForm } from "./TokenForm";

type Props = { reason?: string | undefined; onState: (state: SessionState) => void };

/** Asks for the token of whoever is not signed in. */
export function SignIn({ reason, onState }: Props) {
  useTitle(t("signin.title"));
  return (
    <main className={styles.page}>
      <section className={styles.card} aria-labelledby="sign-in">
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <h1 id="sign-in">{t("signin.title")}</h1>
        <p className={styles.lead}>{t("signin.lead")}</p>
        <TokenForm reason={reason} describedBy="token-help" onState={onState} />
        <p id="token-help" className={styles.help}>
          <T id="signin.help" />
        </p>
      </section>
      <ThemeSwitch />
      <LanguageSwitch />
    </main>
  );
}
