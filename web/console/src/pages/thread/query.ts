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
    thread { hash }
    owner { ...ThingFields }
    players { ...ThingFields }
    masterPlayer { ...ThingFields }
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

/** Rows of a thread, or of a session, from a place on. */
export const RangeQuery = graphql(
  `
  query Range($hash: Hash!, $thread: Boolean!, $from: Int!, $count: Int!, $match: MessageMatch) {
    thread(hash: $hash) @include(if: $thread) {
      range(from: $from, count: $count, match: $match) { from totalCount messages { ...RowFields } }
    }
    session(hash: $hash) @skip(if: $thread) {
      range(from: $from, count: $count, match: $match) { from totalCount messages { ...RowFields } }
    }
  }
`,
  [RowFields],
);

/** Where a message stands among all, and among those that match. */
export const PlaceQuery = graphql(`
  query Place($hash: Hash!, $thread: Boolean!, $message: Hash!, $match: MessageMatch) {
    thread(hash: $hash) @include(if: $thread) {
      place(message: $message)
      matched: place(message: $message, match: $match)
    }
    session(hash: $hash) @skip(if: $thread) {
      place(message: $message)
      matched: place(message: $message, match: $match)
    }
  }
`);

/** Where the first message at a moment or later stands. */
export const PlaceAtQuery = graphql(`
  query PlaceAt($hash: Hash!, $thread: Boolean!, $at: Time!, $match: MessageMatch) {
    thread(hash: $hash) @include(if: $thread) { placeAt(at: $at, match: $match) }
    session(hash: $hash) @skip(if: $thread) { placeAt(at: $at, match: $match) }
  }
`);

/** What stands out: errors, important messages, where sessions begin. */
export const MarksQuery = graphql(`
  query Marks($hash: Hash!, $thread: Boolean!, $match: MessageMatch) {
    thread(hash: $hash) @include(if: $thread) {
      marksCount(match: $match)
      marks(match: $match) { position kind hash createdAt }
    }
    session(hash: $hash) @skip(if: $thread) {
      marksCount(match: $match)
      marks(match: $match) { position kind hash createdAt }
    }
  }
`);

/** Tells that a message was appended. */
export const Appended = graphql(`
  subscription Appended($sessions: [Hash!], $threads: [Hash!]) {
    messageAppended(sessions: $sessions, threads: $threads) { hash eventType }
  }
`);

/** The next of those that cite a message. */
export const CitedQuery = graphql(
  `
  query Cited($hash: Hash!, $after: String) {
    message(hash: $hash) {
      hash
      citedBy(first: 20, after: $after) {
        edges { node { hash sequence content createdAt owner { ...ThingFields } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [ThingFields],
);

/** Where a message stands, to open its thread, or its session if it has none. */
export const MessagePlace = graphql(`
  query MessagePlace($hash: Hash!) {
    message(hash: $hash) {
      hash
      thread { hash place(message: $hash) }
      session { hash place(message: $hash) }
    }
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
      recorded: integrity { erasure { ...CheckedFields owner { ...ThingFields } } }
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
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [CheckedFields, ThingFields],
);

/** One thing that stands out in a conversation. */
export type Mark = NonNullable<ResultOf<typeof MarksQuery>["thread"]>["marks"][number];

/** A message as a row shows it. */
export type MessageRow = ResultOf<typeof RowFields>;

/** A message with everything. */
export type WholeMessage = NonNullable<ResultOf<typeof MessageQuery>["message"]>;
