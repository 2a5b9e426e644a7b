import { readFileSync } from "node:fs";
import examples from "readme:examples";
import { buildSchema, parse, validate } from "graphql";
import { describe, expect, it } from "vitest";

const readme = readFileSync(new URL("../../../../../README.md", import.meta.url), "utf8");
const schema = buildSchema(readFileSync(new URL("../../api/schema.graphql", import.meta.url), "utf8"));

describe("the README's examples", () => {
  it("are all there, as they stand in it", () => {
    expect(examples).toHaveLength(readme.split("```graphql").length - 1);
    for (const { title, query, variables } of examples) {
      expect(readme).toContain(`. ${title}`);
      expect(readme).toContain(`\`\`\`graphql\n${query}\`\`\``);
      if (variables) expect(readme).toContain(`\`\`\`json\n${variables}\`\`\``);
    }
  });

  it.each(examples)("$title: asks for what the schema has, with its variables", ({ query, variables }) => {
    const asked = parse(query);
    expect(validate(schema, asked)).toEqual([]);
    const wanted = asked.definitions.flatMap((d) =>
      d.kind === "OperationDefinition" ? (d.variableDefinitions ?? []).map((v) => v.variable.name.value) : [],
    );
    expect(Object.keys(variables ? JSON.parse(variables) : {})).toEqual(wanted);
  });
});
