import { expect, it } from "vitest";
import { begin, type Draft, inputOf, problems } from "./draft";

const draft = (part: Partial<Draft> = {}): Draft => ({ ...begin(null, "b"), title: "t", content: "c", ...part });

it.each<[string, Partial<Draft>, string[]]>([
  ["nothing in what fits", {}, []],
  ["what is empty", { book: "", title: "", content: "" }, ["book", "title", "content"]],
  ["a book of too many bytes, not characters", { book: "é".repeat(129) }, ["book"]],
  ["what is no JSON", { data: "{" }, ["data"]],
  ["content of more than a MiB", { content: "c".repeat(1_048_577) }, ["content"]],
])("finds %s", (_, part, want) => expect(Object.keys(problems(draft(part)))).toEqual(want));

it("asks for what was written, and for data only if some was given", () => {
  const plain = { kind: "SECRETARY", book: "b", title: "t", content: "c", verified: true };
  expect(inputOf(draft())).toEqual(plain);
  expect(inputOf(draft({ data: '{"x": 1}', verified: false }))).toEqual({ ...plain, verified: false, data: { x: 1 } });
});
