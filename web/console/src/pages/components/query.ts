import { graphql, type ResultOf, type VariablesOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

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

const WholeFields = graphql(`
  fragment WholeFields on Component @_unmask {
    __typename hash namespace key name description data
    ... on Player { preferences }
  }
`);

export const ComponentQuery = graphql(
  `
  query Component($hash: Hash!) {
    component(hash: $hash) { ...WholeFields }
  }
`,
  [WholeFields],
);

/** Those with a key like this one in a namespace, the key itself first. */
export const ComponentByKey = graphql(
  `
  query ComponentByKey($namespace: Namespace!, $key: String!) {
    components(namespaces: [$namespace], search: $key, first: 20) {
      edges { node { ...WholeFields } }
    }
  }
`,
  [WholeFields],
);

export const UsageQuery = graphql(`
  query Usage($hash: Hash!, $bucket: UsageBucket!) {
    componentUsage(hash: $hash, bucket: $bucket) {
      total sent received led first last
      buckets { start total sent received led }
    }
  }
`);

export const LatestQuery = graphql(
  `
  query Latest($filter: ContextScope!) {
    messages(filter: $filter, last: 10) {
      edges { node { __typename hash sequence createdAt content owner { ...ThingFields } } }
    }
  }
`,
  [ThingFields],
);

export const Upsert = graphql(
  `
  mutation Upsert($component: ComponentInput!) {
    upsertComponents(components: [$component]) { ...WholeFields }
  }
`,
  [WholeFields],
);

/** A component as the list shows it. */
export type ComponentRow = ResultOf<typeof ComponentsQuery>["components"]["edges"][number]["node"];

/** A component with everything. */
export type Whole = NonNullable<ResultOf<typeof ComponentQuery>["component"]>;

/** How messages name a component. */
export type Use = ResultOf<typeof UsageQuery>["componentUsage"];

/** Over how long a time use is counted. */
export type Bucket = VariablesOf<typeof UsageQuery>["bucket"];

/** Which messages are listed. */
export type Filter = VariablesOf<typeof LatestQuery>["filter"];

/** What the server is asked to keep. */
export type ComponentInput = VariablesOf<typeof Upsert>["component"];

/** Where a component lives. */
export type Namespace = ComponentInput["namespace"];
