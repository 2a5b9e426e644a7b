import { graphql, type ResultOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

export const AskForContext = graphql(`
  mutation AskForContext($input: ContextRequestInput!) {
    requestContext(input: $input) { id }
  }
`);

const SourceFields = graphql(
  `
  fragment SourceFields on ContextSource @_unmask {
    __typename
    ... on Message {
      hash sequence content createdAt role quarantined owner { ...ThingFields } thread { hash }
      integrity { erasure { hash } }
    }
    ... on Record { hash kind book title text: content createdAt }
  }
`,
  [ThingFields],
);

export const SelectionQuery = graphql(
  `
  query Selection($id: ID!) {
    contextSelection(id: $id) {
      id receipt query rendered tokens tokenBudget unchangedTokens logSize embeddingModel denseModel notices createdAt
      previous { id }
      items {
        position type score tokens
        explanation { relevance lexical semantic neighbours recency preference matchedTerms }
        source { ...SourceFields }
      }
      dropped { score tokens reason source { ...SourceFields } }
    }
  }
`,
  [SourceFields],
);

export const ReplaySelection = graphql(
  `
  query ReplaySelection($id: ID!) {
    replayContext(id: $id) {
      identical differences untold
      causes { kind message alone messages { hash sequence owner { ...ThingFields } } }
      selection { receipt tokens }
    }
  }
`,
  [ThingFields],
);

export const EmbeddingModels = graphql(`
  query EmbeddingModels {
    embeddingModels { name kind dimensions state embedded outstanding refused lastError }
  }
`);

export const DropEmbeddingModel = graphql(`
  mutation DropEmbeddingModel($name: String!) {
    dropEmbeddingModel(name: $name) { name }
  }
`);

/** A selection as it was given. */
export type Selection = NonNullable<ResultOf<typeof SelectionQuery>["contextSelection"]>;

/** What computing a selection again has shown. */
export type Replay = ResultOf<typeof ReplaySelection>["replayContext"];

/** A model whose vectors searches use, or will, or did. */
export type EmbeddingModel = ResultOf<typeof EmbeddingModels>["embeddingModels"][number];

/** A selected message or record, with its score. */
export type Selected = Selection["items"][number];

/** A message or record, as a result shows it. */
export type Source = ResultOf<typeof SourceFields>;
