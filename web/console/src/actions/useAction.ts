import { createContext, use, useEffect, useRef } from "react";
import type { Handler, Offers } from "./offers";
import type { ActionId } from "./registry";

/** Holds what is offered. */
export const OffersContext = createContext<Offers | null>(null);

type How = {
  enabled?: boolean;
  /** What it is done to, in words: where a page offers it for several things, so that the palette lists each. */
  of?: string;
};

/**
 * Offers an action of the registry for as long as the component is shown: its keys, the palette and every
 * `<Button action="…">` then run the handler.
 *
 *     useAction("message.next", () => step(1), { enabled: items.length > 0 });
 *
 * - To have a new action, add a line to registry.ts and its words to words/{en,es}/actions.json.
 * - The handler may be a new function each time. It is given the key that asked, if one did, and gives false to leave
 *   that key to what else it does: an arrow that scrolls, Enter on a button.
 * - Keys never reach it while somebody types in a field (unless the action says typing), nor while a modal dialog is
 *   open; dialogs handle their own Esc.
 * - Where two components offer the same action, of the same, the one that was shown last has it. An offer that is not
 *   enabled hides those before it.
 */
export function useAction(id: ActionId, handler: Handler, { enabled = true, of }: How = {}): void {
  const offers = use(OffersContext);
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => offers?.offer(id, (event) => latest.current(event), enabled, of), [offers, id, enabled, of]);
}
