import { useState } from "react";
import { useMutation } from "urql";
import { useAction } from "../../actions/useAction";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { t } from "../../words";
import { DeleteConversation } from "./query";

type Props = {
  id: string;
  /** Whether it is in memory. */
  live: boolean;
  onFresh: (id: string) => void;
  /** Called when it failed, after which the conversation may be gone all the same. */
  onFailed: () => void;
};

/** Offers to delete a conversation; what takes its place is a fresh one. What was said stays in the log. */
export function Delete({ id, live, onFresh, onFailed }: Props) {
  const { identity } = useSession();
  const [open, setOpen] = useState(false);
  const [, remove] = useMutation(DeleteConversation);
  const may = live && has(identity, "log:append");
  useAction("conversation.delete", () => setOpen(true), { enabled: may });
  const onConfirm = async () => {
    const { data, error } = await remove({ id });
    if (data) onFresh(data.deleteConversation.id);
    else onFailed();
    return error ?? null;
  };
  return (
    <>
      {may && (
        <Button icon="erased" action="conversation.delete">
          {t("conversations.delete")}
        </Button>
      )}
      {open && (
        <ConfirmDialog
          title={t("conversations.delete.title")}
          icon="erased"
          confirm={t("conversations.delete.confirm")}
          ready={live}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>{t("conversations.delete.goes")}</p>
          <p>{t("conversations.delete.stays")}</p>
          {!live && <p role="status">{t("conversations.delete.gone")}</p>}
        </ConfirmDialog>
      )}
    </>
  );
}
