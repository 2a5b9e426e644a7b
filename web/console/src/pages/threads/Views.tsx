import { type KeyboardEvent, useRef, useState } from "react";
import { useAction } from "../../actions/useAction";
import { Button } from "../../ui/Button";
import { Menu } from "../../ui/menu/Menu";
import { t } from "../../words";
import { NameForm } from "./NameForm";
import { useViews } from "./useViews";
import { ViewLine } from "./ViewLine";
import styles from "./Views.module.css";
import { limits, type View, withView } from "./views";

/** Filters that somebody named: applied, saved, renamed and deleted. address: the filter that is set now. */
export function Views({ address }: { address: string }) {
  const { views, lost, set } = useViews();
  const [renaming, setRenaming] = useState<string | null>(null);
  const [gone, setGone] = useState<{ view: View; before: readonly View[] } | null>(null);
  const [said, setSaid] = useState("");
  const box = useRef<HTMLDivElement>(null);
  useAction("views.open", () => box.current?.showPopover());

  const begin = () => {
    setRenaming(null);
    setGone(null);
    setSaid("");
    first(box.current)?.focus();
  };
  const change = (next: readonly View[], words: string) => {
    const done = set(next);
    setSaid(done ? words : t("threads.views.failed"));
    return done;
  };
  const save = (name: string) => {
    const next = withView(views, { name, query: address });
    if (next.length > limits.views) {
      setSaid(t("threads.views.full", { most: limits.views }));
      return false;
    }
    setGone(null);
    return change(next, t("threads.views.saved", { name }));
  };
  const rename = (from: string, name: string) => {
    if (name !== from && views.some((v) => v.name === name)) {
      setSaid(t("threads.views.taken", { name }));
      return;
    }
    const next = views.map((v) => (v.name === from ? { ...v, name } : v));
    if (!change(next, t("threads.views.renamed", { name }))) return;
    setRenaming(null);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-view="${CSS.escape(name)}"]`)?.focus());
  };
  const remove = (view: View) => {
    const rest = views.filter((v) => v !== view);
    if (!change(rest, t("threads.views.deleted", { name: view.name }))) return;
    setGone({ view, before: views });
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>("[data-undo]")?.focus());
  };
  return (
    <Menu icon="important" word={t("threads.views")} box={box} onOpen={begin}>
      {views.length > 0 ? (
        <ul className={styles.list} aria-label={t("threads.views")} onKeyDown={(e) => walk(e, box.current)}>
          {views.map((view) => (
            <ViewLine
              key={view.name}
              view={view}
              current={view.query === address}
              renaming={renaming === view.name}
              onOpen={() => box.current?.hidePopover()}
              onRename={(name) => rename(view.name, name)}
              onRenaming={(on) => setRenaming(on ? view.name : null)}
              onDelete={() => remove(view)}
            />
          ))}
        </ul>
      ) : (
        <p className={styles.note}>{t("threads.views.none")}</p>
      )}
      {lost && <p className={styles.note}>{t("threads.views.lost")}</p>}
      <p role="status" className={styles.note}>
        {said}
      </p>
      {gone && (
        <Button
          look="quiet"
          icon="back"
          data-undo
          onClick={() => {
            if (change(gone.before, "")) setGone(null);
            first(box.current)?.focus();
          }}
        >
          {t("threads.views.undo", { name: gone.view.name })}
        </Button>
      )}
      <NameForm
        label={t("threads.views.name")}
        word={(name) => t(views.some((v) => v.name === name) ? "threads.views.replace" : "threads.views.save")}
        onName={save}
      />
    </Menu>
  );
}

const links = (box: HTMLElement | null) => [...(box?.querySelectorAll<HTMLElement>("[data-view]") ?? [])];

// The first view, or where one is named if there is none.
const first = (box: HTMLElement | null) => links(box)[0] ?? box?.querySelector<HTMLElement>("input");

function walk(event: KeyboardEvent, box: HTMLElement | null): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  const all = links(box);
  const line = event.target instanceof Element ? event.target.closest("li") : null;
  const at = all.findIndex((l) => line?.contains(l));
  all[(at + step + all.length) % all.length]?.focus();
}
