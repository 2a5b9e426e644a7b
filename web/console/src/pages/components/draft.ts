import { bytesOf, readJson } from "../../ui/bounds";
import type { Id } from "../../words";
import type { ComponentInput, Namespace, Whole } from "./query";

/** The server's bounds, in bytes of UTF-8 unless said otherwise; the schema states the same. */
export const limits = {
  key: 256,
  name: 1024,
  description: 65_536,
  data: 1_048_576,
  /** How many, and how long each. */
  preferences: 64,
  preference: 256,
};

/** What a form holds: all of it text, preferences one to a line. */
export type Draft = {
  namespace: Namespace;
  key: string;
  name: string;
  description: string;
  preferences: string;
  data: string;
};

/** A field of the form. */
export type FieldName = keyof Draft;

/** What is wrong with a field, in no language yet. */
export type Problem = { id: Id; values?: Record<string, number> };

const players: readonly Namespace[] = ["PLY", "PLU", "PLX"];

/** Whether what lives there has preferences. */
export const prefers = (namespace: Namespace): boolean => players.includes(namespace);

/** The form as it begins: empty, or what there is. */
export function begin(of: Whole | null): Draft {
  const { namespace, key, name, description, data } = of ?? {
    namespace: "HST" as const,
    key: "",
    name: "",
    description: "",
    data: {},
  };
  const empty = typeof data === "object" && data !== null && Object.keys(data).length === 0;
  return {
    namespace: namespace ?? "HST",
    key: key ?? "",
    name: name ?? "",
    description: description ?? "",
    preferences: of?.__typename === "Player" ? of.preferences.join("\n") : "",
    data: empty ? "" : JSON.stringify(data, null, 2),
  };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** What the server would refuse, by field. */
export function problems(d: Draft): Partial<Record<FieldName, Problem>> {
  const found: Partial<Record<FieldName, Problem>> = {};
  if (d.key === "") found.key = { id: "components.wrong.key" };
  for (const field of ["key", "name", "description", "data"] as const) {
    const n = bytesOf(d[field]);
    if (n > limits[field]) found[field] = { id: "components.wrong.bytes", values: { n, most: limits[field] } };
  }
  if (readJson(d.data) === null) found.data = { id: "components.wrong.json" };
  const lines = linesOf(d.preferences);
  if (lines.length > limits.preferences || lines.some((line) => bytesOf(line) > limits.preference)) {
    found.preferences = {
      id: "components.wrong.preferences",
      values: { most: limits.preferences, bytes: limits.preference },
    };
  }
  return found;
}

/** What is asked of the server: of what is there already only what was changed. */
export function inputOf(d: Draft, before: Draft | null, hash: string | null): ComponentInput {
  const changed = (field: FieldName) => (before === null ? d[field] !== "" : d[field] !== before[field]);
  const data = readJson(d.data);
  return {
    namespace: d.namespace,
    key: d.key,
    ...(hash && { hash }),
    ...(changed("name") && { name: d.name }),
    ...(changed("description") && { description: d.description }),
    ...(changed("data") && { data: data ? data.value : {} }),
    ...(prefers(d.namespace) && changed("preferences") && { preferences: linesOf(d.preferences) }),
  };
}
