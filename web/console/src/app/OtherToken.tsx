import { useEffect, useRef, useState } from "react";
import { roles } from "../api/rights";
import { type Offer, type SessionState, signIn, useSession } from "../api/session";
import { Button } from "../ui/Button";
import dialogs from "../ui/Dialog.module.css";
import { ShortHash } from "../ui/Hash";
import { Icon } from "../ui/icons";

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
    setFailed(state.kind === "checking" ? "" : (state.reason ?? "The server did not accept the token."));
  };
  return (
    <dialog
      ref={dialog}
      className={dialogs.dialog}
      aria-labelledby="other-token"
      onClose={onClose}
      onKeyDown={(e) => e.stopPropagation()}
    >
      <div className={dialogs.form}>
        <h2 id="other-token">The link has somebody else’s token</h2>
        <p>
          It is that of the {roles[whose.role].word} <ShortHash hash={whose.player} />. You are signed in as the{" "}
          {roles[identity.role].word} <ShortHash hash={identity.player} />. Whatever you do after you change is done in
          the other’s name, and seen by them. If you did not expect this, stay.
        </p>
        {failed && (
          <p className={dialogs.error} role="alert">
            <Icon name="error" />
            {failed}
          </p>
        )}
        <div className={dialogs.actions}>
          <Button look="primary" onClick={onClose}>
            Stay
          </Button>
          <Button icon="leave" disabled={busy} onClick={() => void change()}>
            {busy ? "Signing in…" : "Sign in as the other"}
          </Button>
        </div>
      </div>
    </dialog>
  );
}
