import { bytesOf } from "../../ui/bounds";
import type { Problem } from "../../ui/useForm";

/** The server's bounds: a name's bytes, and how many windows see a segment; the schema states the same. */
export const limits = { name: 256, windows: 100 };

/** What the form holds: the other windows, by their ids. */
export type Draft = { name: string; windows: readonly string[] };

export type FieldName = keyof Draft;

export const fields: readonly FieldName[] = ["name", "windows"];

/** The form as it begins. */
export const begin = (): Draft => ({ name: "", windows: [] });

/** What the server would refuse, by field, and that nobody else would see it. */
export function problems({ name, windows }: Draft): Partial<Record<FieldName, Problem>> {
  const found: Partial<Record<FieldName, Problem>> = {};
  const n = bytesOf(name);
  if (n > limits.name) found.name = { id: "windows.wrong.bytes", values: { n, most: limits.name } };
  if (name === "") found.name = { id: "windows.wrong.empty" };
  if (windows.length === 0) found.windows = { id: "windows.wrong.alone" };
  if (windows.length >= limits.windows)
    found.windows = { id: "windows.wrong.windows", values: { n: windows.length, most: limits.windows - 1 } };
  return found;
}
