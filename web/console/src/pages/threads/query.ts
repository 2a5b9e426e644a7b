import { graphql, type ResultOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

export const ThreadsQuery = graphql(
  `
  query Threads($filter: ContextScope, $match: MessageMatch, $after: String, $count: Boolean!) {
    threads(filter: $filter, match: $match, first: 25, after: $after) {
      edges {
        node {
          hash
          messageCount
          startedAt
          lastMessageAt
          players { ...ThingFields }
          lastMessage { content owner { ...ThingFields } }
        }
      }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`,
  [ThingFields],
);

/** A thread as the list shows it. */
export type ThreadRow = ResultOf<typeof ThreadsQuery>["threads"]["edges"][number]["node"];
