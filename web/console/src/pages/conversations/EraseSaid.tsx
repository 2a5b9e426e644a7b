import { useEffect, useRef, useState } from "react";
import { type CombinedError, useClient, useMutation } from "urql";
import { useAction } from "../../actions/useAction";
import { codeOf } from "../../api/errors";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import type { Outcome } from "../../ui/ConfirmDialog";
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

/**
 * Offers to erase from the log what both of a conversation have said, for good and on the record. However much it is: what the
 * server does not come to the end of in the time that a request has, it is asked for again. Leaving the page stops it.
 */
export function EraseSaid({ id, live, logged, onFresh, onChanged }: Props) {
  const { identity, fetch } = useSession();
  const client = useClient();
  const [open, setOpen] = useState<{ live: boolean } | null>(null); // as it was when that was asked
  const [done, setDone] = useState<Done | null>(null);
  const [, erase] = useMutation(EraseConversation);
  const may = logged && has(identity, "erase") && has(identity, "log:append");
  useAction("conversation.erase", () => setOpen({ live }), { enabled: may });
  const atWork = useRef<AbortController | null>(null);
  useEffect(() => () => atWork.current?.abort(), []);
  const onErase = async (reason: string, counted: Impact): Promise<Outcome> => {
    atWork.current = new AbortController();
    const { signal } = atWork.current;
    const session = counted.hash;
    for (let left = counted.contents; ; ) {
      const { data, error } = await erase({ id, reason }, { fetch: (url, init) => fetch(url, { ...init, signal }) });
      onChanged();
      if (!data && signal.aborted) return "stopped";
      // Whatever the answer was, or if there was none: what is the case now.
      const { data: now } = await client.query(ErasedQuery, { id, session }).toPromise();
      const impact = now?.eraseImpact;
      if (error && impact && ranOut(error) && impact.contents < left) {
        left = impact.contents;
        continue;
      }
      const all = impact?.contents === 0 && impact.erasedBefore > counted.erasedBefore;
      if (!data && !(all && error?.networkError)) return error ?? null;
      const erased = impact ? impact.erasedBefore - counted.erasedBefore : null;
      const record = now?.messages.edges[0]?.node ?? null;
      setDone({ session, erased, record, fresh: data?.deleteConversation.id ?? null });
      return null;
    }
  };
  const leave = () => {
    setDone(null);
    if (done?.fresh) onFresh(done.fresh);
    else document.getElementById("main")?.focus(); // the button that had it is gone
  };
  return (
    <>
      {may && (
        <Button icon="erased" action="conversation.erase">
          {t("conversations.erase")}
        </Button>
      )}
      {open && (
        <EraseDialog
          of={{ conversation: id }}
          title={t(open.live ? "conversations.erase.title.live" : "conversations.erase.title")}
          onErase={onErase}
          onStop={() => atWork.current?.abort()}
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
          {done.record && <p>{t("conversations.erased.last")}</p>}
        </EraseReceipt>
      )}
    </>
  );
}

// Whether the server gave up before its end, as it does when a request's time is over.
const ranOut = (error: CombinedError): boolean => codeOf(error) === "UNAVAILABLE";

function howMany(erased: number | null): string {
  if (erased === null) return t("conversations.erased.unread");
  return erased === 0 ? t("conversations.erased.before") : t("conversations.erased.contents", { n: erased });
}
