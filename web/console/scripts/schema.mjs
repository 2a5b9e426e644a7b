// Joins graph/schema/*.graphqls, the server's contract, into the one file that gql.tada types queries from.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { buildASTSchema, parse, printSchema } from "graphql";

const from = new URL("../../../graph/schema/", import.meta.url);
const to = new URL("../src/api/schema.graphql", import.meta.url);

const files = readdirSync(from).filter((name) => name.endsWith(".graphqls"));
const text = files.map((name) => readFileSync(new URL(name, from), "utf8")).join("\n");
// The server's own directives steer its code generator; they are no part of the contract, so they are not checked.
writeFileSync(to, printSchema(buildASTSchema(parse(text), { assumeValidSDL: true })));
