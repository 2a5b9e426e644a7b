import { graphql, type ResultOf, type VariablesOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

export const RecordsQuery = graphql(`
  query Records($kind: RecordKind, $book: String, $search: String, $after: String, $count: Boolean!) {
    records(kind: $kind, book: $book, search: $search, first: 50, after: $after) {
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

export const UsedByQuery = graphql(
  `
  query UsedBy($hash: Hash!, $after: String, $count: Boolean!) {
    record(hash: $hash) {
      usedBy(first: 50, after: $after) {
        edges { node { id position createdAt player { ...ThingFields } } }
        pageInfo { endCursor hasNextPage }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [ThingFields],
);

export const RecordCitedByQuery = graphql(
  `
  query RecordCitedBy($hash: Hash!, $after: String, $count: Boolean!) {
    record(hash: $hash) {
      citedBy(first: 50, after: $after) {
        edges { node { __typename hash sequence createdAt content owner { ...ThingFields } } }
        pageInfo { endCursor hasNextPage }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [ThingFields],
);

export const AddRecord = graphql(`
  mutation AddRecord($record: RecordInput!) {
    addRecords(records: [$record]) { hash }
  }
`);

/** A record as the list shows it. */
export type RecordRow = ResultOf<typeof RecordsQuery>["records"]["edges"][number]["node"];

/** A record with everything. */
export type WholeRecord = NonNullable<ResultOf<typeof RecordQuery>["record"]>;

/** A selection that holds a record. */
export type UsedBy = NonNullable<ResultOf<typeof UsedByQuery>["record"]>["usedBy"]["edges"][number]["node"];

/** What the server is asked to add. */
export type RecordInput = VariablesOf<typeof AddRecord>["record"];
