import { graphql, type VariablesOf } from "../api/graphql";

/** Which sessions hold messages of a thread. */
export const ThreadSessions = graphql(`
  query ThreadSessions($thread: Hash!, $after: String) {
    sessions(filter: { threads: [$thread] }, first: 200, after: $after) {
      edges { node { hash length head } }
      pageInfo { endCursor hasNextPage }
    }
  }
`);

/** One session's end, to check it against. */
export const SessionEnd = graphql(`
  query SessionEnd($hash: Hash!) {
    session(hash: $hash) { hash length head }
  }
`);

/** Everything of a message that its hash covers, and the bytes that it covers. */
export const CheckedFields = graphql(`
  fragment CheckedFields on Message @_unmask {
    hash prevHash sequence
    session { hash } thread { hash } owner { hash } players { hash } masterPlayer { hash }
    role eventType importance channel source content attachments ambient
    hashtags { hash } flag { hash } masterItem { hash } items { hash } location { hash }
    refs { type hash }
    createdAt
    integrity { state preimage contentPreimage leafIndex proof }
  }
`);

/** What the server gives as the message that records the erasure of another, with all that it takes to check it. */
export const RecordedErasure = graphql(
  `
  fragment RecordedErasure on Message @_unmask { recorded: integrity { erasure { ...CheckedFields } } }
`,
  [CheckedFields],
);

/** A page of a session in the chain's order, to recompute. */
export const VerifyPage = graphql(
  `
  query VerifyPage($session: Hash!, $after: String) {
    session(hash: $session) {
      messages(first: 100, after: $after) {
        edges { node { ...CheckedFields } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`,
  [CheckedFields],
);

/** Messages of a thread, or of a session, from a place on, to check them before the others. */
export const VerifyRows = graphql(
  `
  query VerifyRows($hash: Hash!, $thread: Boolean!, $from: Int!, $count: Int!, $match: MessageMatch) {
    thread(hash: $hash) @include(if: $thread) {
      range(from: $from, count: $count, match: $match) { messages { ...CheckedFields ...RecordedErasure } }
    }
    session(hash: $hash) @skip(if: $thread) {
      range(from: $from, count: $count, match: $match) { messages { ...CheckedFields ...RecordedErasure } }
    }
  }
`,
  [CheckedFields, RecordedErasure],
);

/** Which rows to check before the others: what the conversation shows of itself. */
export type Rows = Omit<VariablesOf<typeof VerifyRows>, "hash" | "thread">;

/** What a field of a message may have named: components, page by page, and with the first page threads and sessions. */
export const NamedHashes = graphql(`
  query NamedHashes($after: String, $first: Boolean!) {
    components(first: 200, after: $after) { edges { node { hash } } pageInfo { endCursor hasNextPage } }
    threads(first: 200) @include(if: $first) { edges { node { hash } } }
    sessions(first: 200) @include(if: $first) { edges { node { hash } } }
  }
`);

/** One message, to look at it once more. */
export const VerifyAgain = graphql(
  `
  query VerifyAgain($hash: Hash!) {
    message(hash: $hash) { ...CheckedFields }
  }
`,
  [CheckedFields],
);

/** The server's own check of a session, or of the whole log. */
export const ServerCheck = graphql(`
  subscription ServerCheck($session: Hash) {
    verificationProgress(session: $session) {
      checked
      total
      done
      breaks { session sequence messageHash reason detail }
    }
  }
`);
