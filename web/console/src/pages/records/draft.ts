import { bytesOf, readJson } from "../../ui/bounds";
import type { Id } from "../../words";
import type { RecordInput } from "./query";

/** The server's bounds, in bytes of UTF-8; the schema states the same. */
export const limits = { book: 256, title: 1024, content: 1_048_576, data: 1_048_576 };

/** What the form holds. */
export type Draft = {
  kind: RecordInput["kind"];
  book: string;
  title: string;
  content: string;
  data: string;
  verified: boolean;
};

/** A field of the form. */
export type FieldName = keyof Draft;

/** What is wrong with a field, in no language yet. */
export type Problem = { id: Id; values?: Record<string, number> };

/** The form as it begins: in the kind and book that the list shows. */
export const begin = (kind: RecordInput["kind"] | null, book: string): Draft => ({
  kind: kind ?? "SECRETARY",
  book,
  title: "",
  content: "",
  data: "",
  verified: true,
});

/** What the server would refuse, by field. */
export function problems(d: Draft): Partial<Record<FieldName, Problem>> {
  const found: Partial<Record<FieldName, Problem>> = {};
  for (const field of ["book", "title", "content", "data"] as const) {
    const n = bytesOf(d[field]);
    if (n === 0 && field !== "data") found[field] = { id: "records.wrong.empty" };
    if (n > limits[field]) found[field] = { id: "records.wrong.bytes", values: { n, most: limits[field] } };
  }
  if (readJson(d.data) === null) found.data = { id: "records.wrong.json" };
  return found;
}

/** What is asked of the server. */
export function inputOf(d: Draft): RecordInput {
  const { kind, book, title, content, verified } = d;
  const data = readJson(d.data);
  return { kind, book, title, content, verified, ...(data && { data: data.value }) };
}
