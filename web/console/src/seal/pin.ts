import type { Head } from "./checkpoint";

/**
 * What this browser remembers of the log at this address: the key that it saw first, and the newest head that it has
 * checked under it. signed tells whether it could check that head's signature, too. Times are RFC 3339.
 */
export type Pin = { key: string; since: string; head: (Head & { at: string; signed: boolean }) | null };

/** Where pins are kept: localStorage, which a browser divides by origin. */
export type Keep = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const place = "seal";

/** What is remembered; null before the first visit. What cannot be read counts as nothing. */
export function readPin(keep: Keep): Pin | null {
  try {
    const value: unknown = JSON.parse(keep.getItem(place) ?? "null");
    return isPin(value) ? value : null;
  } catch {
    return null;
  }
}

/** Remembers a pin in the place of the one that was there. */
export function writePin(keep: Keep, pin: Pin): void {
  keep.setItem(place, JSON.stringify(pin));
}

/** Forgets the pin, so that the next key that is seen is the first. */
export function forgetPin(keep: Keep): void {
  keep.removeItem(place);
}

function isPin(value: unknown): value is Pin {
  if (typeof value !== "object" || value === null) return false;
  const { key, since, head } = value as Partial<Pin>;
  if (typeof key !== "string" || typeof since !== "string") return false;
  if (head === null) return true;
  if (typeof head !== "object") return false;
  const numbered = Number.isSafeInteger(head.size) && head.size >= 0;
  return numbered && typeof head.root === "string" && typeof head.at === "string" && typeof head.signed === "boolean";
}
