import { useCallback, useEffect, useReducer, useRef } from "react";
import type { CombinedError } from "urql";
import { asCombined } from "../../api/errors";
import { nameFor, prefixLength, readName } from "./address";
import { erasedRow } from "./erasure";
import type { MessageRow } from "./query";
import type { Conversation } from "./useConversation";

/**
 * The message that the address names.
 *
 * - open: row is what is known of it at once; place is where it stands among all, position among those that match, from
 *   0, null where it is not among them or that is not known yet;
 * - moved: at that place stands another message than the link says, or none;
 * - failed: the server could not be asked.
 */
export type Opened =
  | { kind: "none" }
  | { kind: "finding" }
  | { kind: "open"; hash: string; row: MessageRow | null; place: number | null; position: number | null }
  | { kind: "moved"; place: number; prefix: string; there: MessageRow | null }
  | { kind: "failed"; error: CombinedError; retry: () => void };

const none: Opened = { kind: "none" };
const finding: Opened = { kind: "finding" };

// Names that are remembered: of the message that is open, of the one before, and of the one that is being opened, each by
// its hash and by its place. Not more: each holds a message.
const remembered = 6;

type Asked = {
  conversation: Conversation;
  /** The name in the address; null if it names no message. */
  name: string | null;
  /** Puts another name into the address. replace: without a step in the history. */
  setName: (name: string | null, replace: boolean) => void;
};

/** Follows the message in the address, opens others, and takes it that one was erased: by, as the message says of that hash. */
export function useOpened({ conversation, name, setName }: Asked) {
  const { source, filtered } = conversation;
  // What names lead to under this filter, the latest last: opened from a row, a message is there at once.
  const known = useRef(new Map<string, Opened>());
  const asked = useRef(source);
  if (asked.current !== source) {
    asked.current = source;
    known.current = new Map();
  }
  const [turn, draw] = useReducer((n: number) => n + 1, 0);
  const now = useRef({ name, setName });
  useEffect(() => {
    now.current = { name, setName };
  });

  const learn = useCallback(
    (of: string, opened: Opened) => {
      if (asked.current !== source) return;
      keep(known.current, of, opened);
      draw();
      if (opened.kind !== "open" || opened.place === null || now.current.name !== of) return;
      const better = nameFor(opened.place, opened.hash);
      if (better === of) return;
      keep(known.current, better, opened);
      now.current.setName(better, true);
    },
    [source],
  );

  const open = useCallback(
    (row: MessageRow, position: number) => {
      // The number in a session is the place, but in a session from which something was taken out.
      const place = filtered ? null : position;
      const opened: Opened = { kind: "open", hash: row.hash, row, place, position };
      const to = place === null ? row.hash : nameFor(place, row.hash);
      keep(known.current, to, opened);
      now.current.setName(to, now.current.name !== null);
      if (place !== null) return;
      void source.place(row.hash).then(
        (found) => learn(row.hash, { ...opened, place: found.place }),
        () => undefined, // the whole hash in the address will do
      );
    },
    [source, filtered, learn],
  );
  // What was erased is not drawn again, from whatever is remembered here or there.
  const { ranges } = conversation;
  const erased = useCallback(
    (hash: string, by: string) => {
      const change = (m: MessageRow) => (m.hash === hash ? erasedRow(m, by) : m);
      known.current = new Map([...known.current].map(([of, opened]) => [of, changed(opened, change)]));
      ranges.amend(change);
      draw();
    },
    [ranges],
  );
  const close = useCallback(() => now.current.setName(null, false), []);

  const opened = name === null ? none : (known.current.get(name) ?? finding);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks again at each turn for what is not known
  useEffect(() => {
    if (name === null || known.current.has(name)) return;
    let gone = false;
    const retry = () => {
      known.current.delete(name);
      draw();
    };
    resolve(conversation, name).then(
      (found) => !gone && learn(name, found),
      (error: unknown) => !gone && learn(name, { kind: "failed", error: asCombined(error), retry }),
    );
    return () => {
      gone = true;
    };
  }, [name, source, turn, learn]);
  return { opened, open, close, erased };
}

function changed(opened: Opened, change: (m: MessageRow) => MessageRow): Opened {
  if (opened.kind === "open") return { ...opened, row: opened.row && change(opened.row) };
  return opened.kind === "moved" ? { ...opened, there: opened.there && change(opened.there) } : opened;
}

function keep(known: Map<string, Opened>, name: string, opened: Opened): void {
  known.delete(name);
  known.set(name, opened);
  const [oldest] = known.keys();
  if (known.size > remembered && oldest !== undefined) known.delete(oldest);
}

async function resolve({ source }: Conversation, name: string): Promise<Opened> {
  const named = readName(name);
  if (!named) return { kind: "moved", place: -1, prefix: name.slice(0, prefixLength), there: null };
  if (named.kind === "hash") {
    const { place, matched } = await source.place(named.hash);
    return { kind: "open", hash: named.hash, row: null, place, position: matched };
  }
  const { place, prefix } = named;
  const row = await source.at(place);
  if (!row?.hash.startsWith(prefix)) return { kind: "moved", place, prefix, there: row };
  const position = source.match === null ? place : (await source.place(row.hash)).matched;
  return { kind: "open", hash: row.hash, row, place, position };
}
