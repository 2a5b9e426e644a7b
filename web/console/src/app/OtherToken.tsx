import { useEffect, useRef, useState } from "react";
import { keepIn } from "../actions/listen";
import { roleWord } from "../api/rights";
import { type Offer, type SessionState, signIn, useSession } from "../api/session";
import { Button } from "../ui/Button";
import dialogs from "../ui/Dialog.module.css";
import { ShortHash } from "../ui/Hash";
import { Icon } from "../ui/icons";
import { T, t } from "../words";

type Props = {
  offer: Offer;
  /** Called with what signing in came to. */
  onState: (state: SessionState) => void;
  onClose: () => void;
};

/** Says whose token a link has brought, and asks whether to sign in with it instead. Esc stays. */
export function OtherToken({ offer: { token, whose }, onState, onClose }: Props) {
  const { identity } = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const change = async () => {
    setBusy(true);
    const state = await signIn(token);
    if (state.kind === "signedIn") return onState(state);
    setBusy(false);
    setFailed(state.kind === "checking" ? "" : (state.reason ?? t("api.session.rejected")));
  };
  return (
    <dialog ref={dialog} className={dialogs.dialog} aria-labelledby="other-token" onClose={onClose} onKeyDown={keepIn}>
      <div className={dialogs.form}>
        <h2 id="other-token">{t("app.other")}</h2>
        <p>
          <T
            id="app.other.detail"
            values={{
              role: roleWord(whose.role),
              other: <ShortHash hash={whose.player} />,
              own: roleWord(identity.role),
              me: <ShortHash hash={identity.player} />,
            }}
          />
        </p>
        {failed && (
          <p className={dialogs.error} role="alert">
            <Icon name="error" />
            {failed}
          </p>
        )}
        <div className={dialogs.actions}>
          <Button look="primary" onClick={onClose}>
            {t("app.other.stay")}
          </Button>
          <Button icon="leave" disabled={busy} onClick={() => void change()}>
            {t(busy ? "app.other.busy" : "app.other.change")}
          </Button>
        </div>
      </div>
    </dialog>
  );
}
