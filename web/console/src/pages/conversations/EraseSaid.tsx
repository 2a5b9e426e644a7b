import { useState } from "react";
import { useClient, useMutation } from "urql";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import { EraseDialog } from "../thread/EraseDialog";
import { EraseReceipt } from "../thread/EraseReceipt";
import type { Impact } from "../thread/erasure";
import { EraseConversation, ErasedQuery } from "./query";

type Props = {
  id: string;
  /** Whether it is in memory: then that goes, too. */
  live: boolean;
  /** Whether the log holds anything of it. */
  logged: boolean;
  onFresh: (id: string) => void;
  /** Called once something of it may be gone. */
  onChanged: () => void;
};

type Done = {
  session: string;
  /** How many contents; null if that could not be had. */
  erased: number | null;
  record: { hash: string; sequence: number; createdAt: string } | null;
  /** What takes the conversation's place; null if the answer that said so was lost. */
  fresh: string | null;
};

/** Offers to erase from the log what both of a conversation have said, for good and on the record. */
export function EraseSaid({ id, live, logged, onFresh, onChanged }: Props) {
  const { identity } = useSession();
  const client = useClient();
  const [open, setOpen] = useState<{ live: boolean } | null>(null); // as it was when that was asked
  const [done, setDone] = useState<Done | null>(null);
  const [, erase] = useMutation(EraseConversation);
  const may = has(identity, "erase") && has(identity, "log:append");
  const onErase = async (reason: string, counted: Impact) => {
    const { data, error } = await erase({ id, reason });
    onChanged();
    const session = counted.hash;
    // Whatever the answer was, or if there was none: what is the case now.
    const { data: now } = await client.query(ErasedQuery, { id, session }).toPromise();
    const erased = now ? now.eraseImpact.erasedBefore - counted.erasedBefore : null;
    const all = now?.eraseImpact.contents === 0 && now.eraseImpact.erasedBefore > counted.erasedBefore;
    if (!data && !all) return error ?? null;
    const record = now?.messages.edges[0]?.node ?? null;
    setDone({ session, erased, record, fresh: data?.deleteConversation.id ?? null });
    return null;
  };
  const leave = () => {
    setDone(null);
    if (done?.fresh) onFresh(done.fresh);
    else document.getElementById("main")?.focus(); // the button that had it is gone
  };
  return (
    <>
      {logged && may && (
        <Button icon="erased" onClick={() => setOpen({ live })}>
          {t("conversations.erase")}
        </Button>
      )}
      {open && (
        <EraseDialog
          of={{ conversation: id }}
          title={t(open.live ? "conversations.erase.title.live" : "conversations.erase.title")}
          onErase={onErase}
          onClose={() => setOpen(null)}
        >
          <p>{t(open.live ? "conversations.delete.goes" : "conversations.erase.gone")}</p>
          <p>{t("conversations.erase.portions")}</p>
        </EraseDialog>
      )}
      {done && !open && (
        <EraseReceipt
          title={t(done.erased === 0 ? "conversations.erased.nothing" : "conversations.erased")}
          session={done.session}
          record={done.record}
          onClose={leave}
        >
          <p>{howMany(done.erased)}</p>
          <p>{t(done.fresh ? "conversations.erased.fresh" : "conversations.erased.lost")}</p>
        </EraseReceipt>
      )}
    </>
  );
}

function howMany(erased: number | null): string {
  if (erased === null) return t("conversations.erased.unread");
  return erased === 0 ? t("conversations.erased.before") : t("conversations.erased.contents", { n: erased });
}
