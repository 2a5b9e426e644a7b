import { initGraphQLTada } from "gql.tada";
import type { introspection } from "./graphql-env.d.ts";

/** Writes a query or fragment; its types come from the server's schema. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { Hash: string; Time: string; JSON: unknown };
}>();

export { type FragmentOf, type ResultOf, readFragment, type VariablesOf } from "gql.tada";
