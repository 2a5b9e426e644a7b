import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useQuery } from "urql";
import { useLocation } from "wouter";
import { words } from "../api/errors";
import { has } from "../api/rights";
import { useSession } from "../api/session";
import { Icon } from "../ui/icons";
import { t } from "../words";
import { type Entry, entriesAt, entriesOf } from "./entries";
import { Keys } from "./Keys";
import { keepIn } from "./listen";
import type { Choice } from "./offers";
import styles from "./Palette.module.css";
import { NamedQuery } from "./query";
import { recent, remember } from "./recent";
import { targetOf } from "./target";
import { useActions } from "./useActions";

/**
 * Finds what can be done and does it: pages, actions, what was opened lately, and whatever a pasted hash or link names.
 * A combobox by the ARIA pattern in a dialog; the focus returns where it was.
 */
export default function Palette({ onClose }: { onClose: () => void }) {
  const { identity } = useSession();
  const [, navigate] = useLocation();
  const { choices, run } = useActions();
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const { entries, note } = useEntries(typed, choices);
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  useEffect(() => {
    document.getElementById(`${id}${active}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active]);

  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    dialog.current?.close(); // first, so that the focus is where it was when the action asks
    if ("to" in entry) return navigate(entry.to);
    remember(identity.player, { action: entry.action, of: entry.of });
    run({ id: entry.action, of: entry.of });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDialogElement>) => {
    keepIn(event);
    if (!event.currentTarget.open) return;
    if (event.key === "Enter") choose(entries[active]);
    else if (event.key === "k" && (event.ctrlKey || event.metaKey)) dialog.current?.close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (entries.length > 0) setActive((active + step + entries.length) % entries.length);
    } else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label={t("palette.title")}
      onClose={onClose}
      onKeyDown={onKeyDown}
    >
      <div className={styles.field}>
        <Icon name="search" />
        <input
          autoFocus
          role="combobox"
          aria-label={t("palette.title")}
          aria-autocomplete="list"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}list`}
          aria-activedescendant={entries.length > 0 ? `${id}${active}` : undefined}
          placeholder={t("palette.field")}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(e) => {
            setTyped(e.target.value);
            setActive(0);
          }}
        />
      </div>
      <div id={`${id}list`} className={styles.list} role="listbox" aria-label={t("palette.title")}>
        {entries.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
          <div
            key={entry.id}
            id={`${id}${i}`}
            role="option"
            aria-selected={i === active}
            className={styles.entry}
            onClick={() => choose(entry)}
            onMouseMove={() => setActive(i)}
          >
            <Icon name={entry.icon} />
            <span className={styles.text}>{entry.text}</span>
            {entry.section === "recent" && <span className={styles.section}>{t("palette.recent")}</span>}
            {entry.keys && <Keys keys={entry.keys} />}
          </div>
        ))}
      </div>
      <p className={styles.note} role="status">
        {note}
      </p>
    </dialog>
  );
}

// What the palette lists for what was typed, and what is said below: of a hash the server is asked.
function useEntries(typed: string, choices: readonly Choice[]): { entries: Entry[]; note: string } {
  const { identity } = useSession();
  const target = targetOf(typed, window.location.origin);
  const hash = target?.kind === "hash" ? target.hash : "";
  const [{ data, error, fetching }] = useQuery({
    query: NamedQuery,
    variables: { hash },
    pause: hash === "" || !has(identity, "log:read"),
  });
  if (!target) {
    const entries = entriesOf(typed, choices, recent(identity.player));
    if (entries.length === 0) return { entries, note: t("palette.none") };
    return { entries, note: typed.trim() === "" ? "" : t("palette.found", { count: entries.length }) };
  }
  if (target.kind === "address") return { entries: entriesAt(target, undefined), note: "" };
  if (fetching) return { entries: [], note: t("palette.looking") };
  const entries = entriesAt(target, data);
  if (entries.length > 0) return { entries, note: t("palette.found", { count: entries.length }) };
  return { entries, note: error ? t("palette.failed", { why: words(error) }) : t("palette.nowhere") };
}
