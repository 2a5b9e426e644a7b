import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../../ui/Button";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { Field } from "../../ui/Field";
import { percent } from "../../ui/format";
import { t } from "../../words";
import { CompressWindow, type WholeWindow } from "./query";

const usual = 60; // percent of the capacity, as the schema states it

/** Offers to compress a window, down to a share of its capacity. */
export function Compress({ window, onDone }: { window: WholeWindow; onDone: () => void }) {
  const [open, setOpen] = useState(false);
  const [target, setTarget] = useState(String(usual));
  const [, compress] = useMutation(CompressWindow);
  const wanted = Number(target);
  const onConfirm = async () => {
    const { error } = await compress({ window: window.id, target: wanted / 100 });
    if (!error) onDone();
    return error ?? null;
  };
  return (
    <>
      <Button icon="down" onClick={() => setOpen(true)}>
        {t("windows.compress")}
      </Button>
      {open && (
        <ConfirmDialog
          title={t("windows.compress.title")}
          icon="down"
          confirm={t("windows.compress.confirm")}
          ready={target.trim() !== "" && wanted >= 0 && wanted <= 100}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>{t("windows.compress.means")}</p>
          <p>{t("windows.compress.now", { share: percent(window.usage) })}</p>
          <Field label={t("windows.compress.target")} hint={t("windows.compress.target.hint")}>
            {(of) => (
              <input
                {...of}
                type="number"
                min={0}
                max={100}
                value={target}
                onChange={(e) => setTarget(e.target.value)}
              />
            )}
          </Field>
        </ConfirmDialog>
      )}
    </>
  );
}
