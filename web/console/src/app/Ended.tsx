import { use, useEffect, useRef } from "react";
import { keepIn } from "../actions/listen";
import { EndedContext, type EndedControl } from "../api/ended";
import { roleWord } from "../api/rights";
import { useSession } from "../api/session";
import { TokenForm } from "../pages/signin/TokenForm";
import { Button } from "../ui/Button";
import dialogs from "../ui/Dialog.module.css";
import { Icon } from "../ui/icons";
import { T, t } from "../words";
import banners from "./SealBanner.module.css";

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

function Dialog({ control: { ask, arrive }, why }: { control: EndedControl; why: string }) {
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
