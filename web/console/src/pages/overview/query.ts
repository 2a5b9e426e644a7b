import { graphql, type ResultOf } from "../../api/graphql";

export const OverviewQuery = graphql(`
  query Overview($verify: Boolean!) {
    overview {
      messages sessions threads players selections atLeast
      appendsPerSecond
      outstanding @include(if: $verify)
      lagSeconds @include(if: $verify)
      checkpoint @include(if: $verify) { size root signedAt cosignatures }
      cosigners @include(if: $verify)
      embeddingModels { name state embedded outstanding refused lastError }
      problems { severity code message }
    }
  }
`);

/** What there is, and how it goes. */
export type Overview = ResultOf<typeof OverviewQuery>["overview"];

/** Something that is wrong. */
export type Problem = Overview["problems"][number];
