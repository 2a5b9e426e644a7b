import { useState } from "react";
import { useMutation } from "urql";
import { useLocation } from "wouter";
import { Button } from "../../ui/Button";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { T, t } from "../../words";
import { DeleteWindow, type WholeWindow } from "./query";

/** Offers to delete a window, for good, with all that is its own. */
export function Delete({ window }: { window: WholeWindow }) {
  const [open, setOpen] = useState(false);
  const [, go] = useLocation();
  const [, remove] = useMutation(DeleteWindow);
  const onConfirm = async () => {
    const { error } = await remove({ id: window.id });
    if (!error) go("/windows");
    return error ?? null;
  };
  return (
    <>
      <Button icon="erased" onClick={() => setOpen(true)}>
        {t("windows.delete")}
      </Button>
      {open && (
        <ConfirmDialog
          title={t("windows.delete.title")}
          icon="erased"
          confirm={t("windows.delete.confirm")}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>
            <T id="windows.delete.goes" values={{ name: <bdi>{window.name}</bdi>, n: window.items.length }} />
          </p>
          <p>{t("windows.delete.stays")}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
