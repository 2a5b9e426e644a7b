import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import { singleKeys, usePreference } from "../app/preferences";
import { Button } from "../ui/Button";
import { t } from "../words";
import styles from "./Help.module.css";
import { Keys } from "./Keys";
import { isSingle } from "./keys";
import { keepIn } from "./listen";
import { type ActionId, actionIds, actionOf, groups } from "./registry";
import { SingleKeys } from "./SingleKeys";
import { useActions } from "./useActions";

/** Every key of the console, what it does, and whether it does so on the page behind. Switches single keys off. */
export default function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { choices } = useActions();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const onKeyDown = (event: KeyboardEvent<HTMLDialogElement>) => {
    keepIn(event);
    if (event.key === "?") dialog.current?.close();
  };
  const keyed = actionIds.filter((a) => actionOf(a).keys);
  return (
    <dialog ref={dialog} className={styles.help} aria-labelledby={id} onClose={onClose} onKeyDown={onKeyDown}>
      <header className={styles.head}>
        <h2 id={id}>{t("palette.help")}</h2>
        <Button onClick={() => dialog.current?.close()}>{t("palette.help.close")}</Button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.body} tabIndex={0} aria-labelledby={id}>
        <SingleKeys />
        {groups.map((group) => {
          const these = keyed.filter((a) => actionOf(a).group === group);
          if (these.length === 0) return null;
          return (
            <section key={group} className={styles.group} aria-label={t(`palette.group.${group}`)}>
              <h3>{t(`palette.group.${group}`)}</h3>
              <ul>
                {these.map((a) => (
                  <Line key={a} id={a} here={choices.some((c) => c.id === a)} />
                ))}
              </ul>
            </section>
          );
        })}
      </section>
    </dialog>
  );
}

function Line({ id, here }: { id: ActionId; here: boolean }) {
  const single = usePreference(singleKeys);
  const keys = (actionOf(id).keys ?? []).filter((k) => single || !isSingle(k));
  if (keys.length === 0) return null;
  return (
    <li data-here={here}>
      <span>
        {t(`actions.${id}`)}
        {!here && <span className={styles.elsewhere}> ({t("palette.help.elsewhere")})</span>}
      </span>
      <span className={styles.keys}>
        {keys.map((k, i) => (
          <span key={k}>
            {i > 0 && <span className={styles.or}> {t("palette.help.or")} </span>}
            <Keys keys={k} then={t("palette.help.then")} />
          </span>
        ))}
      </span>
    </li>
  );
}
