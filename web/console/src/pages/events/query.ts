import { graphql, type ResultOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

/** What an event shows of itself. */
const EventFields = graphql(
  `
  fragment EventFields on Message @_unmask {
    hash sequence role eventType importance channel source content attachments createdAt quarantined
    integrity { erasure { hash } }
    thread { hash }
    owner { ...ThingFields }
    players { ...ThingFields }
    hashtags { ...ThingFields }
  }
`,
  [ThingFields],
);

/** The threads of an agent with a user, or the one that is called so. */
export const UserThreadsQuery = graphql(`
  query UserThreads($agent: String!, $userId: String!, $threadId: String) {
    userThreads(agent: $agent, userId: $userId, first: 200, threadId: $threadId) { threadId startedAt lastEventAt numEvents thread { hash } }
  }
`);

/** The events of a thread, in order; only errors on demand. Its session has its name: others may put messages of theirs under the thread. */
export const EventsQuery = graphql(
  `
  query Events($thread: Hash!, $types: [EventType!], $after: String, $count: Boolean!) {
    messages(filter: { sessions: [$thread], eventTypes: $types }, first: 25, after: $after) {
      edges { node { ...EventFields } }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`,
  [EventFields],
);

/** The newest errors of all, from the end. */
export const ErrorsQuery = graphql(
  `
  query Errors($before: String) {
    messages(filter: { eventTypes: [ERROR] }, last: 25, before: $before) {
      edges { node { ...EventFields } }
      pageInfo { startCursor hasPreviousPage }
    }
  }
`,
  [EventFields],
);

/** What a prompt would be given of a thread. */
export const ThreadEventsQuery = graphql(
  `
  query ThreadEvents($agent: String!, $userId: String!, $threadId: String!, $last: Int!, $keep: Int!) {
    threadEvents(agent: $agent, userId: $userId, threadId: $threadId, last: $last, keepImportant: $keep) {
      ...EventFields
      keptForImportance
    }
  }
`,
  [EventFields],
);

/** A thread as the list shows it. */
export type EventThread = ResultOf<typeof UserThreadsQuery>["userThreads"][number];

/** An event, as it is shown. */
export type Event = ResultOf<typeof EventFields> & { keptForImportance?: boolean };
