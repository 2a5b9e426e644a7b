import { bytesOf, readJson } from "../../ui/bounds";
import type { Problem } from "../../ui/useForm";
import type { ToolInput } from "./query";

/** The server's bounds, in bytes of UTF-8, and how many tools a window describes; the schema states the same. */
export const limits = { name: 256, description: 16_384, schema: 65_536, described: 30 };

/** What the form holds; `only` has all other tools leave the window. */
export type Draft = { name: string; description: string; schema: string; only: boolean };

export type FieldName = Exclude<keyof Draft, "only">;

export const fields: readonly FieldName[] = ["name", "description", "schema"];

/** The form as it begins. */
export const begin = (): Draft => ({ name: "", description: "", schema: "", only: false });

/** What the server would refuse, by field. */
export function problems(d: Draft): Partial<Record<FieldName, Problem>> {
  const found: Partial<Record<FieldName, Problem>> = {};
  const json = readJson(d.schema);
  const sent = { ...d, schema: json ? JSON.stringify(json.value) : "" };
  for (const field of fields) {
    const n = bytesOf(sent[field]);
    if (n > limits[field]) found[field] = { id: "windows.wrong.bytes", values: { n, most: limits[field] } };
  }
  if (d.name.trim() === "") found.name = { id: "windows.wrong.empty" };
  if (json === null) found.schema = { id: "windows.wrong.json" };
  return found;
}

/** What is asked of the server. */
export const inputOf = ({ name, description, schema }: Draft): ToolInput => {
  const json = readJson(schema);
  return { name, description, ...(json && { schema: json.value as ToolInput["schema"] }) };
};
