import { useState } from "react";
import { useMutation } from "urql";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { isTheWord, TypedWord } from "../../ui/TypedWord";
import { t } from "../../words";
import styles from "./Conversations.module.css";
import { DeleteConversation } from "./query";

type Props = {
  id: string;
  /** Whether it is in memory. If it is not, what is left of it to delete is what the log holds. */
  live: boolean;
  /** Whether the log may hold anything of it. */
  logged: boolean;
  onFresh: (id: string) => void;
};

/** Offers to delete a conversation, on demand with what both said; what takes its place is a fresh one. */
export function Delete({ id, live, logged, onFresh }: Props) {
  const { identity } = useSession();
  const [open, setOpen] = useState(false);
  const [chosen, setErase] = useState(false);
  const [typed, setTyped] = useState("");
  const [, remove] = useMutation(DeleteConversation);
  const mayErase = has(identity, "erase") && logged;
  if (!has(identity, "log:append") || !(live || mayErase)) return null;
  const erase = chosen || !live;
  const onConfirm = async () => {
    const { data, error } = await remove({ id, eraseLog: erase });
    if (data) onFresh(data.deleteConversation.id);
    return error ?? null;
  };
  const close = () => {
    setOpen(false);
    setErase(false);
    setTyped("");
  };
  return (
    <>
      <Button icon="erased" onClick={() => setOpen(true)}>
        {t(live ? "conversations.delete" : "conversations.gone.erase")}
      </Button>
      {open && (
        <ConfirmDialog
          title={t(live ? "conversations.delete.title" : "conversations.gone.erase.title")}
          icon="erased"
          confirm={t(confirmWord(live, erase))}
          ready={!erase || isTheWord(typed)}
          onConfirm={onConfirm}
          onClose={close}
        >
          <p>{t(live ? "conversations.delete.goes" : "conversations.gone.erase.goes")}</p>
          <p>{t(erase ? "conversations.delete.erases" : "conversations.delete.stays")}</p>
          {live && mayErase && (
            <label className={styles.check}>
              <input type="checkbox" checked={chosen} onChange={(e) => setErase(e.target.checked)} />
              {t("conversations.delete.erase")}
            </label>
          )}
          {erase && <TypedWord typed={typed} onType={setTyped} />}
        </ConfirmDialog>
      )}
    </>
  );
}

function confirmWord(live: boolean, erase: boolean) {
  if (!live) return "conversations.gone.erase.confirm";
  return erase ? "conversations.delete.erase.confirm" : "conversations.delete.confirm";
}
