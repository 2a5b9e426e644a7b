import type { KeyboardEvent } from "react";
import { tinykeys } from "tinykeys";
import { bindingsOf, isSingle } from "./keys";
import type { Offers } from "./offers";
import { type ActionId, actionIds, actionOf } from "./registry";

// How long a sequence waits for its next press, in milliseconds: for slow hands, and for a page that is busy.
const pause = 2_000;

/**
 * Does what the keys of the registry stand for, until the function that it gives is called. Keys that write are left to
 * fields, and all keys to a dialog that is open; single: whether single keys count at all.
 */
export function listen(offers: Offers, single: () => boolean): () => void {
  const map: Record<string, (event: globalThis.KeyboardEvent) => void> = {};
  for (const [keys, ids] of byKeys()) {
    const press = (event: globalThis.KeyboardEvent) => {
      // What was done already, by a longer sequence or by whatever has the focus, is not done twice.
      if (event.defaultPrevented || event.isComposing || isElsewhere()) return;
      if (isSingle(keys) && !single()) return;
      const typing = isTyping(event.target);
      const done = ids.some((id) => (!typing || actionOf(id).typing) && offers.run(id, event));
      if (done) event.preventDefault();
    };
    for (const binding of bindingsOf(keys)) map[binding] = press;
  }
  return tinykeys(window, map, { timeout: pause });
}

// The actions of each key; sequences first, so that their last press does not also count by itself.
function byKeys(): [string, ActionId[]][] {
  const found = new Map<string, ActionId[]>();
  for (const id of actionIds) {
    for (const keys of actionOf(id).keys ?? []) found.set(keys, [...(found.get(keys) ?? []), id]);
  }
  return [...found].sort(([a], [b]) => b.split(" ").length - a.split(" ").length);
}

/** Whether a modal dialog or a menu has the keyboard. */
const isElsewhere = (): boolean => document.querySelector("dialog:modal, [popover]:popover-open") !== null;

const choosing = new Set(["button", "checkbox", "color", "file", "image", "radio", "reset", "submit"]);

/**
 * Keeps a key that is pressed in an open dialog from the page behind it. One that has just closed may still have the focus
 * for a moment, and keeps nothing.
 */
export function keepIn(event: KeyboardEvent<HTMLDialogElement>): void {
  if (event.currentTarget.open) event.stopPropagation();
}

/** Whether keys pressed there, where it is shown, write something, or choose among options by their letters. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || !target.checkVisibility()) return false;
  if (target instanceof HTMLInputElement) return !choosing.has(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
