/** The names of the limits and times that the server tells of: each has words of the console. */
export const limitNames = [
  "body",
  "appendBody",
  "document",
  "answer",
  "answerValues",
  "complexity",
  "depth",
  "page",
  "conversations",
  "operation",
  "content",
  "messagesAtOnce",
  "refs",
  "selection",
  "tokenBudget",
  "sockets",
  "streams",
  "playerSockets",
  "playerStreams",
  "playerTokens",
  "agentToken",
  "clientToken",
  "longestToken",
  "tokenRate",
  "addressRate",
  "readsAtOnce",
  "writesAtOnce",
  "searchesAtOnce",
  "queryVectors",
] as const;

/** The name of one. */
export type LimitName = (typeof limitNames)[number];

/** The name as one that has words; undefined of one that this console does not know. */
export const limitNamed = (name: string): LimitName | undefined => limitNames.find((n) => n === name);
