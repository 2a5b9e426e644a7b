import { graphql, type ResultOf, type VariablesOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

const TokenFields = graphql(
  `
  fragment TokenFields on Token @_unmask {
    id kind scopes note createdAt expiresAt revokedAt lastUsedAt state
    player { ...ThingFields }
    creator { ...ThingFields }
  }
`,
  [ThingFields],
);

export const TokensQuery = graphql(
  `
  query Tokens($player: Hash, $after: String, $count: Boolean!) {
    tokens(player: $player, first: 50, after: $after) {
      edges { node { ...TokenFields } }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`,
  [TokenFields],
);

export const CreateToken = graphql(
  `
  mutation CreateToken($input: TokenInput!) {
    createToken(input: $input) { secret token { ...TokenFields } }
  }
`,
  [TokenFields],
);

export const RevokeToken = graphql(`
  mutation RevokeToken($id: ID!) {
    revokeToken(id: $id) { id }
  }
`);

/** Players with a key or a name like this one. */
export const PlayersLike = graphql(
  `
  query PlayersLike($namespace: Namespace!, $key: String!) {
    components(namespaces: [$namespace], search: $key, first: 50) {
      edges { node { ...ThingFields } }
    }
  }
`,
  [ThingFields],
);

export const DescribePlayer = graphql(`
  mutation DescribePlayer($player: ComponentInput!) {
    upsertComponents(components: [$player]) { __typename hash }
  }
`);

/** A token as the list shows it. */
export type TokenRow = ResultOf<typeof TokensQuery>["tokens"]["edges"][number]["node"];

/** A token that was just made, with its secret. */
export type Made = ResultOf<typeof CreateToken>["createToken"];

/** What the server is asked to make. */
export type TokenInput = VariablesOf<typeof CreateToken>["input"];

/** Where players live. */
export type PlayerInput = VariablesOf<typeof DescribePlayer>["player"];
