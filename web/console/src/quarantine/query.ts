import { graphql, type ResultOf } from "../api/graphql";
import { ThingFields } from "../ui/Things";

const HolderFields = graphql(
  `
  fragment HolderFields on SelectionHolderConnection @_unmask {
    edges { node { id position createdAt player { ...ThingFields } } }
    pageInfo { endCursor hasNextPage }
  }
`,
  [ThingFields],
);

const QuarantineFields = graphql(
  `
  fragment QuarantineFields on Quarantine @_unmask {
    reason placedAt
    placedBy { ...ThingFields }
    event { hash }
    release { reason at by { ...ThingFields } event { hash } }
    message { hash sequence content createdAt quarantined owner { ...ThingFields } integrity { erasure { hash } } }
    selections(first: 3) { ...HolderFields }
  }
`,
  [ThingFields, HolderFields],
);

export const QuarantinesQuery = graphql(
  `
  query Quarantines($active: Boolean, $after: String, $count: Boolean!) {
    quarantines(active: $active, first: 25, after: $after) {
      edges { cursor node { ...QuarantineFields } }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`,
  [QuarantineFields],
);

export const QuarantineQuery = graphql(
  `
  query Quarantine($message: Hash!) {
    quarantine(message: $message) { ...QuarantineFields }
  }
`,
  [QuarantineFields],
);

/** All selections that hold a message, a page at a time. */
export const HoldersQuery = graphql(
  `
  query Holders($message: Hash!, $after: String) {
    quarantine(message: $message) { selections(first: 50, after: $after) { ...HolderFields } }
  }
`,
  [HolderFields],
);

export const PlaceInQuarantine = graphql(`
  mutation PlaceInQuarantine($message: Hash!, $reason: String!) {
    quarantine(message: $message, reason: $reason) { placedAt message { hash quarantined } }
  }
`);

export const ReleaseFromQuarantine = graphql(`
  mutation ReleaseFromQuarantine($message: Hash!, $reason: String!) {
    releaseQuarantine(message: $message, reason: $reason) { placedAt message { hash quarantined } }
  }
`);

/** A quarantine, with the first selections that hold its message. */
export type QuarantineOf = NonNullable<ResultOf<typeof QuarantineQuery>["quarantine"]>;

/** A selection that holds a message. */
export type Holder = QuarantineOf["selections"]["edges"][number]["node"];
