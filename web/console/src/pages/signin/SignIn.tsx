import { type SubmitEvent, useState } from "react";
import { type SessionState, signIn } from "../../api/session";
import { ThemeSwitch } from "../../app/ThemeSwitch";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import styles from "./SignIn.module.css";

type Props = { reason?: string | undefined; onState: (state: SessionState) => void };

/** Asks for the token, and turns it into a cookie that scripts cannot read. */
export function SignIn({ reason, onState }: Props) {
  useTitle("Sign in");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(reason);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get("token") ?? "").trim();
    if (!token) return setFailed("The token is empty.");
    setBusy(true);
    const state = await signIn(token);
    setBusy(false);
    if (state.kind === "signedIn") onState(state);
    else setFailed(state.kind === "checking" ? undefined : (state.reason ?? "The server did not accept the token."));
  };
  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={submit}>
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <h1>Sign in</h1>
        <p className={styles.lead}>To the context manager’s console, with an access token.</p>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          aria-describedby="token-help"
          aria-invalid={failed ? true : undefined}
          // biome-ignore lint/a11y/noAutofocus: the only thing on the page
          autoFocus
        />
        {failed && (
          <p className={styles.failed} role="alert">
            <Icon name="error" />
            {failed}
          </p>
        )}
        <Button look="primary" type="submit" disabled={busy}>
          {busy ? "Signing in…" : "Sign in"}
        </Button>
        <p id="token-help" className={styles.help}>
          The server printed an address with the token when it first started, and keeps the token in{" "}
          <code>admin.token</code> in its data directory.
        </p>
      </form>
      <ThemeSwitch />
    </main>
  );
}
