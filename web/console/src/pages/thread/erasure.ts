import { graphql, type ResultOf } from "../../api/graphql";

/** What erasing a message would touch, counted and not done. */
export const ImpactQuery = graphql(`
  query EraseImpact($hash: Hash!) {
    eraseImpact(message: $hash) {
      obstacle
      contentBytes
      attachmentsBytes
      ambientBytes
      lexicalVectors
      denseVectors
      searchTerms
      idempotencyKeys
      selections
      windows
      citedBy
      refs
      records
    }
  }
`);

export type Impact = ResultOf<typeof ImpactQuery>["eraseImpact"];

/** Erases, and gives the message that says so. */
export const EraseMessage = graphql(`
  mutation EraseMessage($hash: Hash!, $reason: String!) {
    eraseMessage(hash: $hash, reason: $reason) {
      hash
      sequence
      createdAt
      content
      session {
        hash
      }
      owner {
        hash
        name
        key
      }
    }
  }
`);

/** The message that says who erased what, when and why. */
export type Receipt = ResultOf<typeof EraseMessage>["eraseMessage"];
