import { graphql, type ResultOf } from "../../api/graphql";

export const RecordsQuery = graphql(`
  query Records($kind: RecordKind, $search: String, $after: String, $count: Boolean!) {
    records(kind: $kind, search: $search, first: 50, after: $after) {
      edges { node { hash kind book title verified createdAt } }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`);

export const RecordQuery = graphql(`
  query Record($hash: Hash!) {
    record(hash: $hash) { hash kind book title content data verified createdAt }
  }
`);

/** A record as the list shows it. */
export type RecordRow = ResultOf<typeof RecordsQuery>["records"]["edges"][number]["node"];
