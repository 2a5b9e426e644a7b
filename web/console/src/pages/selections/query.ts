import { graphql, type ResultOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

export const SelectionsQuery = graphql(
  `
  query Selections($player: Hash, $since: Time, $until: Time, $after: String, $count: Boolean!) {
    selections(player: $player, since: $since, until: $until, first: 25, after: $after) {
      edges {
        node { id receipt query tokens tokenBudget createdAt player { ...ThingFields } items { position } }
      }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`,
  [ThingFields],
);

/** A selection as the list shows it. */
export type SelectionRow = ResultOf<typeof SelectionsQuery>["selections"]["edges"][number]["node"];
