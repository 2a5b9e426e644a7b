import { useMemo } from "react";
import { useSession } from "../../api/session";
import { keep, usePreference } from "../../app/preferences";
import { type Kept, readViews, type View, viewsKey, writeViews } from "./views";

/** The views of whoever is signed in, and a way to keep others; it gives false if this browser keeps nothing more. */
export function useViews(): Kept & { set: (views: readonly View[]) => boolean } {
  const { identity } = useSession();
  const key = viewsKey(identity.player);
  const text = usePreference(() => localStorage.getItem(key));
  const kept = useMemo(() => readViews(text), [text]);
  const set = (views: readonly View[]) => {
    try {
      keep(key, views.length > 0 ? writeViews(views) : null);
      return true;
    } catch {
      return false; // full, or switched off
    }
  };
  return { ...kept, set };
}
