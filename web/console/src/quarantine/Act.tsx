import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../ui/Button";
import { ReasonDialog } from "../ui/ReasonDialog";
import { T, t } from "../words";
import { PlaceInQuarantine, ReleaseFromQuarantine } from "./query";

type Props = { message: { hash: string; sequence: number }; onDone: () => void };

/** Offers to take a message out of selections, with a reason. */
export function Place({ message: { hash, sequence }, onDone }: Props) {
  const [open, setOpen] = useState(false);
  const [, place] = useMutation(PlaceInQuarantine);
  const onConfirm = async (reason: string) => {
    const { error } = await place({ message: hash, reason });
    if (!error) onDone();
    return error ?? null;
  };
  return (
    <>
      <Button icon="quarantine" data-press="place" onClick={() => setOpen(true)}>
        {t("quarantine.place")}
      </Button>
      {open && (
        <ReasonDialog
          title={t("quarantine.place.title", { sequence })}
          icon="quarantine"
          confirm={t("quarantine.title")}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>
            <T id="quarantine.place.ends" />
          </p>
          <p>
            <T id="quarantine.place.stays" />
          </p>
          <p>{t("quarantine.place.record")}</p>
        </ReasonDialog>
      )}
    </>
  );
}

/** Offers to let a message be selected again, with a reason. */
export function Release({ message: { hash, sequence }, onDone }: Props) {
  const [open, setOpen] = useState(false);
  const [, release] = useMutation(ReleaseFromQuarantine);
  const onConfirm = async (reason: string) => {
    const { error } = await release({ message: hash, reason });
    if (!error) onDone();
    return error ?? null;
  };
  return (
    <>
      <Button data-press="release" onClick={() => setOpen(true)}>
        {t("quarantine.release")}
      </Button>
      {open && (
        <ReasonDialog
          title={t("quarantine.release.title", { sequence })}
          icon="check"
          confirm={t("quarantine.release.confirm")}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>{t("quarantine.release.means")}</p>
        </ReasonDialog>
      )}
    </>
  );
}
