import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../ui/Button";
import { ReasonDialog } from "../ui/ReasonDialog";
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
      <Button icon="quarantine" onClick={() => setOpen(true)}>
        Quarantine…
      </Button>
      {open && (
        <ReasonDialog
          title={`Put message #${sequence} into quarantine?`}
          icon="quarantine"
          confirm="Quarantine"
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>
            <b>What ends:</b> from now on no selection holds it, whoever asks, on every server of the log.
          </p>
          <p>
            <b>What stays:</b> its content and its place in the chain; whoever sees its session reads it, marked.
            Selections that were made before stay as they are: they are listed, so that you can see who was given it.
            Messages that cite it are not touched.
          </p>
          <p>That you did it, when and why, goes on record. It can be released again.</p>
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
      <Button onClick={() => setOpen(true)}>Release…</Button>
      {open && (
        <ReasonDialog
          title={`Release message #${sequence} from quarantine?`}
          icon="check"
          confirm="Release"
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <p>
            From now on selections may hold it again, as if it had never been in quarantine. That you did it, when and
            why, goes on record.
          </p>
        </ReasonDialog>
      )}
    </>
  );
}
