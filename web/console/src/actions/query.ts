import { graphql, type ResultOf } from "../api/graphql";

/** What a hash names: at most one of these, unless two kinds share it. */
export const NamedQuery = graphql(`
  query Named($hash: Hash!) {
    message(hash: $hash) { hash }
    session(hash: $hash) { hash }
    thread(hash: $hash) { hash }
    record(hash: $hash) { hash }
  }
`);

export type Named = ResultOf<typeof NamedQuery>;
