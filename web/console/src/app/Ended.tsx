import { createContext, use, useEffect, useRef } from "react";
import { roles } from "../api/rights";
import { type SessionState, useSession } from "../api/session";
import { TokenForm } from "../pages/signin/TokenForm";
import { Button } from "../ui/Button";
import dialogs from "../ui/Dialog.module.css";
import { Icon } from "../ui/icons";
import banners from "./SealBanner.module.css";

/** A session that has ended: why, in the server's words, and whether the console asks to sign in again now. */
export type Ended = { why: string; asking: boolean };

type Control = {
  ended: Ended | null;
  /** Shows the dialog, or puts it away for now. */
  ask: (asking: boolean) => void;
  /** Called with what signing in came to. */
  arrive: (state: SessionState) => void;
};

/** Holds whether the session has ended. */
export const EndedContext = createContext<Control | null>(null);

/** Says that the session has ended, above a page that stays as it was, and offers to sign in again. */
export function EndedBanner() {
  const control = use(EndedContext);
  if (!control?.ended) return null;
  const { ended, ask } = control;
  return (
    <>
      <div className={banners.banner} role="alert">
        <Icon name="warning" />
        <span>
          <b>Your session has ended.</b> This page stays as it was; what it asks of the server waits.
        </span>
        <Button onClick={() => ask(true)}>Sign in again</Button>
      </div>
      {ended.asking && <Dialog control={control} why={ended.why} />}
    </>
  );
}

function Dialog({ control: { ask, arrive }, why }: { control: Control; why: string }) {
  const { identity, leave } = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={dialogs.dialog}
      aria-labelledby="ended"
      onClose={() => ask(false)}
      onKeyDown={(e) => e.stopPropagation()}
    >
      <div className={dialogs.form}>
        <h2 id="ended">Your session has ended</h2>
        {why && <p>The server says: {why}</p>}
        <p id="ended-help">
          You were signed in as {roles[identity.role].word}. Sign in as the same player to go on where you are: nothing
          on this page is lost. Anybody else begins at the page as it is opened.
        </p>
        <TokenForm describedBy="ended-help" onState={arrive}>
          <Button icon="leave" onClick={leave}>
            Leave
          </Button>
        </TokenForm>
      </div>
    </dialog>
  );
}
