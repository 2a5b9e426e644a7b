/** How many bytes a text has as UTF-8, which is how the server bounds it. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Reads JSON; null if it is none. What is only white space is undefined: nothing was given. */
export function readJson(text: string): { value: unknown } | null | undefined {
  if (text.trim() === "") return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}
