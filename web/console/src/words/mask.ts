// Lingui decodes \x41 in what it gives, and T reads tags in it: text that was put into a message is to go through
// both as it is. Two code points that no text may hold stand for the characters that matter, meanwhile.
const backslash = "\ufdd0";
const less = "\ufdd1";

/** Values that come through a message unchanged. */
export function mask(values: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(values).map(([name, v]) => [
      name,
      typeof v === "string" ? v.replaceAll("\\", backslash).replaceAll("<", less) : v,
    ]),
  );
}

/** The message with its values as they were. */
export const unmask = (text: string): string => text.replaceAll(backslash, "\\").replaceAll(less, "<");
