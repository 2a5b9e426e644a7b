import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { t, useLanguage } from "../../words";
import { Button, IconButton } from "../Button";
import { count } from "../format";
import { Copy } from "../Hash";
import { Icon } from "../icons";
import { above, type Line, lineOf, matchesOf, type Path, windowOf } from "./lines";
import styles from "./Tree.module.css";

const shown = 100; // lines in the document, until more are asked for
const mostMatches = 1_000;
const longest = 2_000; // characters of one text that are drawn

/** A JSON value as a tree with a search of its own. All of it is text: nothing is a link, an image or HTML. */
export function Tree({ value, label }: { value: unknown; label: string }) {
  useLanguage();
  const [changed, setChanged] = useState<ReadonlyMap<Path, boolean>>(new Map());
  const [start, setStart] = useState(0);
  const [current, setCurrent] = useState<Path>("");
  const [find, setFind] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const goTo = useRef<Path | null>(null);
  const matches = useMemo(() => matchesOf(value, find.trim(), mostMatches), [value, find]);
  const isOpen = useMemo(() => (path: Path, depth: number) => changed.get(path) ?? depth < 2, [changed]);
  const { lines, before, after } = useMemo(() => windowOf(value, isOpen, start, shown), [value, isOpen, start]);
  const at = matches.indexOf(current);

  const set = (path: Path, open: boolean) => setChanged(new Map(changed).set(path, open));
  const show = (path: Path, focus: boolean) => {
    const opened = new Map(changed);
    for (const p of above(path)) opened.set(p, true);
    const line = lineOf(value, (p, depth) => opened.get(p) ?? depth < 2, path);
    setChanged(opened);
    if (line < start || line >= start + shown) setStart(Math.max(0, line - Math.floor(shown / 2)));
    setCurrent(path);
    goTo.current = focus ? path : null;
    if (!focus) queueMicrotask(() => scrollTo(list.current, path));
  };
  const step = (by: 1 | -1) => {
    if (matches.length === 0) return;
    const next = at < 0 ? (by > 0 ? 0 : matches.length - 1) : (at + by + matches.length) % matches.length;
    show(matches[next] ?? "", false);
  };
  useEffect(() => {
    if (goTo.current === null) return;
    itemOf(list.current, goTo.current)?.focus();
    goTo.current = null;
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const index = lines.findIndex((l) => l.path === current);
    const line = lines[index];
    const move = (to: Line | undefined) => to && show(to.path, true);
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(lines[index + 1]),
      ArrowUp: () => move(lines[index - 1]),
      Home: () => move(lines[0]),
      End: () => move(lines[lines.length - 1]),
      ArrowRight: () => (line?.open || line?.size === null ? move(lines[index + 1]) : set(current, true)),
      ArrowLeft: () => {
        if (line?.open) set(current, false);
        else move(lines.find((l) => l.path === above(current).at(-1)));
      },
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const focusable = lines.some((l) => l.path === current) ? current : lines[0]?.path;
  return (
    <div className={styles.tree}>
      <Find text={find} onText={setFind} label={label} n={matches.length} at={at} onStep={step} />
      {before > 0 && <More n={before} word="tree.before" onMore={() => setStart(Math.max(0, start - shown))} />}
      <div ref={list} role="tree" aria-label={label} className={styles.lines} onKeyDown={onKeyDown}>
        {lines.map((line) => (
          <TreeLine
            key={line.path}
            line={line}
            found={find !== "" && matches.includes(line.path)}
            here={line.path === current && find !== ""}
            tabIndex={line.path === focusable ? 0 : -1}
            onToggle={() => {
              setCurrent(line.path);
              if (line.size !== null) set(line.path, !line.open);
            }}
          />
        ))}
      </div>
      {after > 0 && <More n={after} word="tree.after" onMore={() => setStart(start + shown)} />}
      <Copy text={JSON.stringify(value, null, 2)} label={t("tree.copy")} />
    </div>
  );
}

type LineProps = { line: Line; found: boolean; here: boolean; tabIndex: number; onToggle: () => void };

function TreeLine({ line, found, here, tabIndex, onToggle }: LineProps) {
  const { path, depth, key, kind, text, size, open } = line;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    <div
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={size ? open : undefined}
      aria-selected={here}
      tabIndex={tabIndex}
      data-path={path}
      data-found={found}
      data-here={here}
      className={styles.line}
      style={{ paddingInlineStart: `${Math.min(depth, 12) * 0.9 + 0.2}rem` }}
      onClick={onToggle}
    >
      <span className={styles.mark} data-open={open}>
        {size ? <Icon name="back" size={10} /> : null}
      </span>
      <span className={styles.text}>
        {key !== null && <b>{key}: </b>}
        {size === null ? (
          <span data-kind={kind}>
            {text.slice(0, longest)}
            {text.length > longest && <i> {t("tree.cut", { n: text.length - longest })}</i>}
          </span>
        ) : (
          <span className={styles.size}>{t(kind === "array" ? "tree.array" : "tree.object", { n: size })}</span>
        )}
      </span>
    </div>
  );
}

type FindProps = {
  text: string;
  onText: (text: string) => void;
  label: string;
  n: number;
  at: number;
  onStep: (by: 1 | -1) => void;
};

function Find({ text, onText, label, n, at, onStep }: FindProps) {
  const told = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    onStep(event.shiftKey ? -1 : 1);
  };
  return (
    <div className={styles.find}>
      <Icon name="search" size={14} />
      <input
        type="search"
        value={text}
        aria-label={t("tree.find", { what: label })}
        aria-describedby={told}
        placeholder={t("tree.find", { what: label })}
        onChange={(e) => onText(e.target.value)}
        onKeyDown={onKeyDown}
      />
      <span id={told} aria-live="polite">
        {text.trim() !== "" &&
          (n === 0
            ? t("tree.none")
            : t(n >= mostMatches ? "tree.manyMatches" : "tree.matches", { at: count(at + 1), n: count(n) }))}
      </span>
      {n > 0 && (
        <>
          <IconButton icon="up" label={t("tree.previous")} onClick={() => onStep(-1)} />
          <IconButton icon="down" label={t("tree.next")} onClick={() => onStep(1)} />
        </>
      )}
    </div>
  );
}

type MoreProps = { n: number; word: "tree.before" | "tree.after"; onMore: () => void };

function More({ n, word, onMore }: MoreProps) {
  return (
    <Button look="quiet" onClick={onMore}>
      {t(word, { n, shown: Math.min(n, shown) })}
    </Button>
  );
}

const itemOf = (list: HTMLElement | null, path: Path): HTMLElement | null =>
  list?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`) ?? null;

function scrollTo(list: HTMLElement | null, path: Path): void {
  requestAnimationFrame(() => itemOf(list, path)?.scrollIntoView({ block: "nearest" }));
}
