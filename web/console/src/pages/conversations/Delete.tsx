import { useState } from "react";
import { useMutation } from "urql";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { isTheWord, TypedWord } from "../../ui/TypedWord";
import { t } from "../../words";
import styles from "./Conversations.module.css";
import { DeleteConversation, type Memory } from "./query";

type Props = { memory: Memory; onFresh: (id: string) => void };

/** Offers to delete a conversation, on demand with what both said; what takes its place is a fresh one. */
export function Delete({ memory, onFresh }: Props) {
  const { identity } = useSession();
  const [open, setOpen] = useState(false);
  const [erase, setErase] = useState(false);
  const [typed, setTyped] = useState("");
  const [, remove] = useMutation(DeleteConversation);
  if (!has(identity, "log:append")) return null;
  const onConfirm = async () => {
    const { data, error } = await remove({ id: memory.id, eraseLog: erase });
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
        {t("conversations.delete")}
      </Button>
      {open && (
        <ConfirmDialog
          title={t("conversations.delete.title")}
          icon="erased"
          confirm={t(erase ? "conversations.delete.erase.confirm" : "conversations.delete.confirm")}
          ready={!erase || isTheWord(typed)}
          onConfirm={onConfirm}
          onClose={close}
        >
          <p>{t("conversations.delete.goes")}</p>
          <p>{t(erase ? "conversations.delete.erases" : "conversations.delete.stays")}</p>
          {has(identity, "erase") && memory.session && (
            <label className={styles.check}>
              <input type="checkbox" checked={erase} onChange={(e) => setErase(e.target.checked)} />
              {t("conversations.delete.erase")}
            </label>
          )}
          {erase && <TypedWord typed={typed} onType={setTyped} />}
        </ConfirmDialog>
      )}
    </>
  );
}
