import { graphql, type ResultOf } from "../../api/graphql";
import type { MessageRow } from "./query";

/** What erasing a message, or what was said in a conversation, would touch, counted and not done. */
export const ImpactQuery = graphql(`
  query EraseImpact($message: Hash, $conversation: String) {
    eraseImpact(message: $message, conversation: $conversation) {
      hash
      obstacle
      contents
      erasedBefore
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

/** What would be touched; hash is the message's, or that of the conversation's session. */
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

/** A row as it is once its message was erased, on the server's word. by: the message that says so. */
export const erasedRow = (m: MessageRow, by: string): MessageRow => ({
  ...m,
  content: null,
  integrity: { state: "ERASED", erasure: { hash: by } },
});
