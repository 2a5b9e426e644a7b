import { type SubmitEvent, useState } from "react";
import { type SessionState, signIn } from "../../api/session";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { t } from "../../words";
import styles from "./TokenForm.module.css";

type Props = {
  /** What is wrong before anything was typed. */
  reason?: string | undefined;
  /** The id of what says where to get a token. */
  describedBy: string;
  onState: (state: SessionState) => void;
  children?: React.ReactNode;
};

/** A token, and the button that turns it into a cookie that scripts cannot read. Children stand beside the button. */
export function TokenForm({ reason, describedBy, onState, children }: Props) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(reason);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get("token") ?? "").trim();
    if (!token) return setFailed(t("signin.empty"));
    setBusy(true);
    const state = await signIn(token);
    setBusy(false);
    if (state.kind === "signedIn") onState(state);
    else setFailed(state.kind === "checking" ? undefined : (state.reason ?? t("api.session.rejected")));
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <label htmlFor="token">{t("signin.token")}</label>
      <input
        id="token"
        name="token"
        type="password"
        autoComplete="current-password"
        spellCheck={false}
        aria-describedby={describedBy}
        aria-invalid={failed ? true : undefined}
        // biome-ignore lint/a11y/noAutofocus: the only thing to do here
        autoFocus
      />
      {failed && (
        <p className={styles.failed} role="alert">
          <Icon name="error" />
          {failed}
        </p>
      )}
      <div className={styles.actions}>
        {children}
        <Button look="primary" type="submit" disabled={busy}>
          {t(busy ? "signin.busy" : "signin.title")}
        </Button>
      </div>
    </form>
  );
}
