// What the reader chose in this browser. Whoever shows a choice hears when it is made elsewhere, in another tab too.
import { useSyncExternalStore } from "react";

const changed = "preference";

/** Keeps a choice; null forgets it. */
export function keep(key: string, value: string | null): void {
  if (value === null) localStorage.removeItem(key);
  else localStorage.setItem(key, value);
  window.dispatchEvent(new Event(changed));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener);
  window.addEventListener("storage", listener);
  return () => {
    window.removeEventListener(changed, listener);
    window.removeEventListener("storage", listener);
  };
}

/** What a choice is now. read must give the same value as long as nothing was chosen. */
export const usePreference = <T>(read: () => T): T => useSyncExternalStore(subscribe, read);

const singleKey = "single-keys";

/** Whether keys without Ctrl or Cmd do something; they do unless switched off. */
export const singleKeys = (): boolean => localStorage.getItem(singleKey) !== "off";

/** Switches them on or off. */
export const chooseSingleKeys = (on: boolean): void => keep(singleKey, on ? null : "off");
