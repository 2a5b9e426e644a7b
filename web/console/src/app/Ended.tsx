import { createContext, use, useEffect, useRef } from "react";
import { keepIn } from "../actions/listen";
import { roleWord } from "../api/rights";
import { type SessionState, useSession } from "../api/session";
import { TokenForm } from "../pages/signin/TokenForm";
import { Button } from "../ui/Button";
import dialogs from "../ui/Dialog.module.css";
import { Icon } from "../ui/icons";
import { T, t } from "../words";
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
          <T id="app.ended" />
        </span>
        <Button onClick={() => ask(true)}>{t("app.ended.again")}</Button>
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
      onKeyDown={keepIn}
    >
      <div className={dialogs.form}>
        <h2 id="ended">{t("app.ended.title")}</h2>
        {why && <p>{t("app.ended.said", { why })}</p>}
        <p id="ended-help">{t("app.ended.help", { role: roleWord(identity.role) })}</p>
        <TokenForm describedBy="ended-help" onState={arrive}>
          <Button icon="leave" onClick={leave}>
            {t("app.ended.leave")}
          </Button>
        </TokenForm>
      </div>
    </dialog>
  );
}
