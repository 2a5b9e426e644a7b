import { useCallback, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { useAction } from "../../actions/useAction";
import { useTitle } from "../../app/title";
import type { Subject } from "../../chain/verify";
import only from "../../ui/Heard.module.css";
import { Icon } from "../../ui/icons";
import { useSearchParams } from "../../ui/useSearchParams";
import { t } from "../../words";
import { Moved } from "./Moved";
import { Panel } from "./Panel";
import styles from "./ThreadPage.module.css";
import { useConversation } from "./useConversation";
import { useOpened } from "./useOpened";

/** One message on a page of its own. J and K walk the conversation that it was opened from, under its filter. */
export function Full({ subject, name }: { subject: Subject; name: string }) {
  useTitle(t("thread.message"));
  const [params] = useSearchParams();
  const [, navigate] = useLocation();
  const conversation = useConversation(subject);
  const { total } = conversation;
  const page = useRef<HTMLDivElement>(null);
  const query = params.toString();
  const place = `/${subject.kind}s/${subject.hash}`;
  const back = useCallback(
    (of: string) => `${place}?${new URLSearchParams([...new URLSearchParams(query), ["message", of]])}`,
    [place, query],
  );
  const setName = useCallback(
    (next: string | null, replace: boolean) =>
      navigate(next === null ? back(name) : `${place}/${next}${query && `?${query}`}`, { replace }),
    [navigate, back, place, name, query],
  );
  const { opened, open, erased } = useOpened({ conversation, name, setName });
  // Each message is read from its top, also the next one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown depends on these
  useEffect(() => page.current?.querySelector<HTMLElement>("[data-panel]")?.focus(), [name, opened.kind]);
  const leave = () => setName(null, false);
  const early = useRef(0); // steps that were asked for before it was known from where
  const wanted = useRef<number | null>(null); // where the steps so far lead, while its row is on its way
  const walk = async (by: number) => {
    if (opened.kind === "finding") early.current += by;
    if (opened.kind !== "open" || opened.position === null) return;
    const next = Math.max(0, (wanted.current ?? opened.position) + by);
    if (next === opened.position || (total !== null && next >= total)) return;
    wanted.current = next;
    const row = await conversation.rowAt(next);
    if (wanted.current !== next) return;
    wanted.current = null;
    if (row) open(row, next);
  };
  useEffect(() => {
    if (opened.kind === "finding") return;
    const by = early.current;
    early.current = 0;
    if (by !== 0) void walk(by);
  });
  useAction("message.next", (event) => (event?.key.startsWith("Arrow") ? false : void walk(1)));
  useAction("message.previous", (event) => (event?.key.startsWith("Arrow") ? false : void walk(-1)));
  useAction("panel.close", leave);
  return (
    <div className={styles.full} ref={page}>
      <h1 className={only.heard}>{t("thread.message")}</h1>
      <Link href={back(name)} className={styles.action}>
        <Icon name="back" />
        {t("thread.full.back")}
      </Link>
      <Moved opened={opened} onClose={leave} onOpen={open}>
        {opened.kind === "open" && (
          <Panel
            wide
            hash={opened.hash}
            row={opened.row}
            name={name}
            judge={null}
            onClose={leave}
            onChanged={() => total !== null && conversation.ranges.reload()}
            onErased={erased}
          />
        )}
      </Moved>
    </div>
  );
}
