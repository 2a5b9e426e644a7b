import { graphql, type ResultOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

/** What a user has in memory with an assistant now. */
export const ConversationsQuery = graphql(`
  query Conversations($role: ConversationRole!, $userId: String!) {
    conversations(role: $role, userId: $userId) { id createdAt lastActivity expiresAt turns }
  }
`);

/** One of them, as it is in memory now; null once it is gone. */
export const ConversationQuery = graphql(
  `
  query Conversation($id: String!) {
    conversation(id: $id) {
      id role userId state createdAt lastActivity expiresAt
      user { ...ThingFields }
      assistant { ...ThingFields }
      history { role content at message { hash sequence } }
      session { hash length }
    }
  }
`,
  [ThingFields],
);

/** What a model would be asked, token by token. */
export const PromptMessages = graphql(`
  mutation PromptMessages(
    $conversation: String!, $input: String!, $rolePrompt: String!, $rules: String, $context: ContextRequestInput, $tokenBudget: Int
  ) {
    promptMessages(
      conversation: $conversation, input: $input, rolePrompt: $rolePrompt, rules: $rules, context: $context, tokenBudget: $tokenBudget
    ) { role content tokens pieces }
  }
`);

export const DeleteConversation = graphql(`
  mutation DeleteConversation($id: String!) {
    deleteConversation(id: $id) { id }
  }
`);

export const EraseConversation = graphql(`
  mutation EraseConversation($id: String!, $reason: String!) {
    deleteConversation(id: $id, eraseLog: true, reason: $reason) { id }
  }
`);

/** How much is erased of what was said, and the newest message that says so. */
export const ErasedQuery = graphql(`
  query ErasedConversation($id: String!, $session: Hash!) {
    eraseImpact(conversation: $id) { contents erasedBefore }
    messages(filter: { sessions: [$session], eventTypes: [ERASURE] }, last: 1) {
      edges { node { hash sequence createdAt } }
    }
  }
`);

/** What the log holds of a conversation; null if nothing, or nothing that whoever asks may see. */
export const LoggedQuery = graphql(`
  query LoggedConversation($session: Hash!) {
    session(hash: $session) { hash length }
  }
`);

/** How much of what was said the log still holds, and how much is erased; for whoever may erase it. */
export const HeldQuery = graphql(`
  query HeldOfConversation($id: String!) {
    eraseImpact(conversation: $id) { contents erasedBefore }
  }
`);

/** A conversation as the list shows it. */
export type ConversationRow = ResultOf<typeof ConversationsQuery>["conversations"][number];

/** A conversation with all of its memory. */
export type Memory = NonNullable<ResultOf<typeof ConversationQuery>["conversation"]>;

/** A message of a prompt. */
export type PromptMessage = ResultOf<typeof PromptMessages>["promptMessages"][number];
