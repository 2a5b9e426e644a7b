import { graphql, type ResultOf } from "../../api/graphql";

const CheckpointFields = graphql(`
  fragment CheckpointFields on Checkpoint @_unmask { size root note signedAt cosignatures }
`);

export const SealQuery = graphql(
  `
  query Seal {
    seal {
      condition problem origin publicKey waiting
      checkpoint { ...CheckpointFields }
      witnessed { size signedAt cosignatures }
      witnesses { name url size signedAt problem }
    }
  }
`,
  [CheckpointFields],
);

export const CheckpointsQuery = graphql(
  `
  query Checkpoints($after: String, $count: Boolean!) {
    checkpoints(first: 20, after: $after) {
      edges { node { ...CheckpointFields } }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`,
  [CheckpointFields],
);

export const AcceptTree = graphql(`
  mutation AcceptTree($reason: String!) {
    acceptTree(reason: $reason) { condition problem origin publicKey }
  }
`);

/** The seal as the server sees it. */
export type Seal = ResultOf<typeof SealQuery>["seal"];

/** A signed head of the tree. */
export type Checkpoint = ResultOf<typeof CheckpointFields>;
