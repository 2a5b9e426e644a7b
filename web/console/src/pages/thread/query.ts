import { graphql, type ResultOf } from "../../api/graphql";
import { CheckedFields } from "../../chain/query";
import { ThingFields } from "../../ui/Things";

/** What a row of the conversation shows. */
const RowFields = graphql(
  `
  fragment RowFields on Message @_unmask {
    hash prevHash sequence role eventType importance channel source content createdAt quarantined
    integrity { state erasure { hash } }
    session { hash }
    owner { ...ThingFields }
    players { ...ThingFields }
    hashtags { ...ThingFields }
    flag { ...ThingFields }
    masterItem { ...ThingFields }
    items { ...ThingFields }
    location { ...ThingFields }
    refs {
      position type hash
      target {
        __typename
        ... on Message { hash sequence owner { ...ThingFields } }
        ... on Record { hash title book }
      }
    }
  }
`,
  [ThingFields],
);

export const ThreadHead = graphql(
  `
  query ThreadHead($hash: Hash!) {
    thread(hash: $hash) { hash messageCount startedAt lastMessageAt players { ...ThingFields } }
  }
`,
  [ThingFields],
);

export const SessionHead = graphql(`
  query SessionHead($hash: Hash!) {
    session(hash: $hash) { hash length head startedAt lastMessageAt }
  }
`);

export const ThreadPageQuery = graphql(
  `
  query ThreadPage($hash: Hash!, $after: String) {
    thread(hash: $hash) {
      messages(first: 50, after: $after) {
        edges { node { ...RowFields } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`,
  [RowFields],
);

export const SessionPageQuery = graphql(
  `
  query SessionPage($hash: Hash!, $after: String) {
    session(hash: $hash) {
      messages(first: 50, after: $after) {
        edges { node { ...RowFields } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`,
  [RowFields],
);

/** Where a message stands, to open its thread, or its session if it has none. */
export const MessagePlace = graphql(`
  query MessagePlace($hash: Hash!) {
    message(hash: $hash) { hash thread { hash } session { hash } }
  }
`);

/** Everything there is of one message. */
export const MessageQuery = graphql(
  `
  query Message($hash: Hash!) {
    message(hash: $hash) {
      ...CheckedFields
      quarantined
      thread { hash }
      owner { ...ThingFields }
      players { ...ThingFields }
      masterPlayer { ...ThingFields }
      hashtags { ...ThingFields }
      flag { ...ThingFields }
      masterItem { ...ThingFields }
      items { ...ThingFields }
      location { ...ThingFields }
      recorded: integrity { erasure { hash sequence content createdAt owner { ...ThingFields } } }
      sentWith: refs {
        position type hash
        target {
          __typename
          ... on Message { hash sequence content createdAt owner { ...ThingFields } }
          ... on Record { hash title book }
        }
      }
      citedBy(first: 20) {
        edges { node { hash sequence content createdAt owner { ...ThingFields } } }
        pageInfo { hasNextPage }
      }
    }
  }
`,
  [CheckedFields, ThingFields],
);

/** A message as a row shows it. */
export type MessageRow = ResultOf<typeof RowFields>;

/** A message with everything. */
export type WholeMessage = NonNullable<ResultOf<typeof MessageQuery>["message"]>;

export const EraseMessage = graphql(`
  mutation EraseMessage($hash: Hash!, $reason: String!) {
    eraseMessage(hash: $hash, reason: $reason) { hash }
  }
`);
