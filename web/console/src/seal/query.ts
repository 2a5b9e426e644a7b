import type { Client } from "urql";
import { graphql } from "../api/graphql";
import { ask } from "../api/query";
import type { Source } from "./anchor";

/** Whether the server seals: for the alert on every page. */
export const SealCondition = graphql(`
  query SealCondition { seal { condition problem } }
`);

/** The key and the newest checkpoint, to hold everything against. */
export const NewestCheckpoint = graphql(`
  query NewestCheckpoint { seal { publicKey checkpoint { note } } }
`);

export const ConsistencyProof = graphql(`
  query ConsistencyProof($from: Int!, $to: Int!) { consistencyProof(from: $from, to: $to) }
`);

/** What an Anchor asks, of the server. */
export function sourceOf(client: Client): Source {
  return {
    seal: async () => (await ask(client, NewestCheckpoint, {})).seal,
    consistency: async (from, to) => (await ask(client, ConsistencyProof, { from, to })).consistencyProof,
  };
}
