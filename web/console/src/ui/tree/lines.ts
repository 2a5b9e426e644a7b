// A JSON value as the lines of a tree. Lines are made one by one, so that a large value is never spread out in memory.

/** A place in a value: the keys that lead to it, as a JSON pointer (RFC 6901). */
export type Path = string;

/** One line. size: how many entries an object or array has, null for what has none. key: null at the top. */
export type Line = {
  path: Path;
  depth: number;
  key: string | null;
  kind: "object" | "array" | "string" | "number" | "boolean" | "null";
  /** The value as text; empty for objects and arrays. */
  text: string;
  size: number | null;
  open: boolean;
};

/** Whether an object or array shows what is in it. */
export type IsOpen = (path: Path, depth: number) => boolean;

/** The lines of a value, in order; what is closed has one line. */
export function* linesOf(value: unknown, isOpen: IsOpen): Generator<Line> {
  yield* walk(value, null, "", 0, isOpen);
}

function* walk(value: unknown, key: string | null, path: Path, depth: number, isOpen: IsOpen): Generator<Line> {
  const kind = kindOf(value);
  if (kind !== "object" && kind !== "array") {
    const text = kind === "string" ? (value as string) : String(value);
    yield { path, depth, key, kind, text, size: null, open: false };
    return;
  }
  const entries = Object.entries(value as object);
  const open = isOpen(path, depth);
  yield { path, depth, key, kind, text: "", size: entries.length, open };
  if (!open) return;
  for (const [name, inside] of entries) yield* walk(inside, name, `${path}/${escaped(name)}`, depth + 1, isOpen);
}

function kindOf(value: unknown): Line["kind"] {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const kind = typeof value;
  return kind === "object" || kind === "number" || kind === "boolean" ? kind : "string";
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** How many lines a value has if everything is open, counted to a limit. */
export function countLines(value: unknown, limit: number): number {
  let n = 0;
  for (const _ of linesOf(value, () => true)) if (++n >= limit) break;
  return n;
}

/** The first lines whose key or text holds a text, whatever its case, up to a limit. */
export function matchesOf(value: unknown, text: string, limit: number): Path[] {
  const wanted = text.toLocaleLowerCase();
  const found: Path[] = [];
  if (wanted === "") return found;
  for (const line of linesOf(value, () => true)) {
    if (!`${line.key ?? ""}\n${line.text}`.toLocaleLowerCase().includes(wanted)) continue;
    if (found.push(line.path) >= limit) break;
  }
  return found;
}

/** The paths that have to be open for a path to be seen. */
export function above(path: Path): Path[] {
  const keys = path.split("/");
  return keys.slice(0, -1).map((_, i) => keys.slice(0, i + 1).join("/"));
}

/** A part of the lines that are open: those from `start` on, at most `count`, and how many there are before and after. */
export type Window = { lines: Line[]; before: number; after: number };

/** Cuts a window out of a value's lines. */
export function windowOf(value: unknown, isOpen: IsOpen, start: number, count: number): Window {
  const lines: Line[] = [];
  let n = 0;
  for (const line of linesOf(value, isOpen)) {
    if (n >= start && lines.length < count) lines.push(line);
    n++;
  }
  return { lines, before: Math.min(start, n), after: Math.max(0, n - start - lines.length) };
}

/** At which of the open lines a path stands; -1 if it is in something that is closed. */
export function lineOf(value: unknown, isOpen: IsOpen, path: Path): number {
  let n = 0;
  for (const line of linesOf(value, isOpen)) {
    if (line.path === path) return n;
    n++;
  }
  return -1;
}
