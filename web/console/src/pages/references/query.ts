import { graphql, type ResultOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

const CitedFields = graphql(
  `
  fragment CitedFields on Message @_unmask {
    __typename hash sequence createdAt content
    owner { ...ThingFields }
  }
`,
  [ThingFields],
);

export const ReferencesQuery = graphql(
  `
  query References($hash: Hash!) {
    message(hash: $hash) {
      ...CitedFields
      refs {
        position type hash
        target { __typename ... on Message { ...CitedFields } ... on Record { hash kind book title createdAt } }
      }
    }
  }
`,
  [CitedFields],
);

export const CitedByQuery = graphql(
  `
  query CitedBy($hash: Hash!, $after: String, $count: Boolean!) {
    message(hash: $hash) {
      citedBy(first: 100, after: $after) {
        edges { node { ...CitedFields } }
        pageInfo { endCursor hasNextPage }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [CitedFields],
);

const StepFields = graphql(
  `
  fragment StepFields on Message @_unmask {
    __typename hash sequence createdAt
    owner { ...ThingFields }
  }
`,
  [ThingFields],
);

const AroundFields = graphql(
  `
  fragment AroundFields on Message @_unmask {
    hash
    refs { type hash target { __typename ... on Message { ...StepFields } ... on Record { hash kind title createdAt } } }
    citedBy(first: 5) { edges { node { ...StepFields } } pageInfo { hasNextPage } }
  }
`,
  [StepFields],
);

/** What is a step further than what the message was sent with, and what was sent with it. */
export const AroundQuery = graphql(
  `
  query Around($hash: Hash!) {
    message(hash: $hash) {
      refs(type: CONTEXT) { target { __typename ... on Message { ...AroundFields } } }
      citedBy(first: 20) { edges { node { ...AroundFields } } }
    }
  }
`,
  [AroundFields],
);

/** A message, with what it was sent with. */
export type Referring = NonNullable<ResultOf<typeof ReferencesQuery>["message"]>;

/** One thing that a message was sent with. */
export type Ref = Referring["refs"][number];

/** A message as the tables show it. */
export type Cited = NonNullable<ResultOf<typeof CitedByQuery>["message"]>["citedBy"]["edges"][number]["node"];

/** What is a step further. */
export type Around = NonNullable<ResultOf<typeof AroundQuery>["message"]>;
