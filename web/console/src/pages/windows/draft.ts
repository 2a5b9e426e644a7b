import { bytesOf } from "../../ui/bounds";
import type { Problem } from "../../ui/useForm";
import type { WindowInput } from "./query";

/** The server's bounds, the texts' in bytes of UTF-8; the schema states the same. */
export const limits = { name: 256, task: 65_536, capacity: { least: 16, most: 2_000_000, usual: 8192 } };

/** What tokens can be counted in; the first is the usual one. */
export const encodings = ["o200k_base", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base"] as const;

/** What the form holds. */
export type Draft = {
  name: string;
  capacity: string;
  /** A player's hash; empty: whoever makes it. */
  agent: string;
  task: string;
  encoding: (typeof encodings)[number];
};

/** A field of the form. */
export type FieldName = keyof Draft;

/** The form as it begins. */
export const begin = (): Draft => ({
  name: "",
  capacity: String(limits.capacity.usual),
  agent: "",
  task: "",
  encoding: encodings[0],
});

/** What the server would refuse, by field. */
export function problems(d: Draft): Partial<Record<FieldName, Problem>> {
  const found: Partial<Record<FieldName, Problem>> = {};
  for (const field of ["name", "task"] as const) {
    const n = bytesOf(d[field]);
    if (n > limits[field]) found[field] = { id: "windows.wrong.bytes", values: { n, most: limits[field] } };
  }
  if (d.name === "") found.name = { id: "windows.wrong.empty" };
  const { least, most } = limits.capacity;
  const capacity = Number(d.capacity);
  if (d.capacity.trim() === "" || !Number.isInteger(capacity) || capacity < least || capacity > most)
    found.capacity = { id: "windows.wrong.between", values: { least, most } };
  return found;
}

/** What is asked of the server. */
export function inputOf({ name, capacity, agent, task, encoding }: Draft): WindowInput {
  return {
    name,
    capacity: Number(capacity),
    encoding,
    ...(agent && { agent }),
    ...(task.trim() && { task }),
  };
}
