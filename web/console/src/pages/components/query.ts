import { graphql, type ResultOf, type VariablesOf } from "../../api/graphql";

export const ComponentsQuery = graphql(`
  query Components($namespaces: [Namespace!], $search: String, $after: String, $count: Boolean!) {
    components(namespaces: $namespaces, search: $search, first: 50, after: $after) {
      edges {
        node {
          __typename hash namespace key name description
          ... on Player { preferences }
        }
      }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`);

/** A component as the list shows it. */
export type ComponentRow = ResultOf<typeof ComponentsQuery>["components"]["edges"][number]["node"];

/** Where components live. */
export type Namespaces = VariablesOf<typeof ComponentsQuery>["namespaces"];
