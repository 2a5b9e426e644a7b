// Keys as the registry writes them, as tinykeys takes them, and as people read them.

const mac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** Whether a key does without Ctrl or Cmd and without a name of its own: one that writing would press. */
export const isSingle = (keys: string): boolean => keys.split(" ").every((press) => [...press].length === 1);

/** A key as tinykeys takes it. Signs may need Shift, or not: that depends on the keyboard. */
export function bindingsOf(keys: string): string[] {
  if (/^[^\p{L}\p{N}\s]$/u.test(keys)) return [keys, `Shift+${keys}`];
  return [keys.replace(/\bMod\b/g, "$mod")];
}

const signs: Record<string, string> = {
  Escape: "Esc",
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
};

/** What stands on the caps: each press of a sequence, and each key of a press. */
export function capsOf(keys: string): string[][] {
  return keys
    .split(" ")
    .map((press) => press.split(/(?<=.)\+/).map((key) => (key === "Mod" ? (mac ? "⌘" : "Ctrl") : (signs[key] ?? key))));
}

/** A key on one line: "Ctrl+K", "G T". */
export const lineOf = (keys: string): string =>
  capsOf(keys)
    .map((press) => press.join("+"))
    .join(" ");

/** A key as aria-keyshortcuts has it; undefined if it is a sequence, which that cannot say. */
export function ariaOf(keys: string): string | undefined {
  return keys.includes(" ") ? undefined : keys.replace("Mod", mac ? "Meta" : "Control");
}
