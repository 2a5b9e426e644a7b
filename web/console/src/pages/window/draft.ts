import { bytesOf } from "../../ui/bounds";
import type { Problem } from "../../ui/useForm";
import { types } from "./parts";
import type { ContentType, WriteInput } from "./query";

/** The server's bounds, in bytes of UTF-8; the schema states the same. */
export const limits = { key: 256, content: 1_048_576 };

/** What the form holds. */
export type Draft = {
  /** Where it goes: into the window, into what it shares, or beside it, where it does not count. */
  to: "window" | "segment" | "scratchpad";
  /** What it shares, by its id. */
  segment: string;
  type: ContentType;
  content: string;
  key: string;
  /** As a field for a moment has it, in this browser's time zone; empty: now. */
  observedAt: string;
};

/** A field of the form. */
export type FieldName = keyof Draft;

/** The form as it begins; with a segment, to write to that. */
export const begin = (segment = ""): Draft => ({
  to: segment ? "segment" : "window",
  segment,
  type: types[5],
  content: "",
  key: "",
  observedAt: "",
});

/** What the server would refuse, by field. */
export function problems(d: Draft): Partial<Record<FieldName, Problem>> {
  const found: Partial<Record<FieldName, Problem>> = {};
  for (const field of ["content", "key"] as const) {
    const n = bytesOf(d[field]);
    if (n > limits[field]) found[field] = { id: "windows.wrong.bytes", values: { n, most: limits[field] } };
  }
  if (d.content === "") found.content = { id: "windows.wrong.empty" };
  if (d.observedAt !== "" && Number.isNaN(Date.parse(d.observedAt))) found.observedAt = { id: "windows.wrong.moment" };
  return found;
}

/** What is asked of the server. */
export function inputOf(window: string, { type, content, key, observedAt }: Draft): WriteInput {
  return {
    window,
    type,
    content,
    ...(key && { key }),
    ...(observedAt && { observedAt: new Date(observedAt).toISOString() }),
  };
}
