import { graphql, type ResultOf } from "../../api/graphql";

export const AskForContext = graphql(`
  mutation AskForContext($input: ContextRequestInput!) {
    requestContext(input: $input) { id }
  }
`);

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

/** A model whose vectors searches use, or will, or did. */
export type EmbeddingModel = ResultOf<typeof EmbeddingModels>["embeddingModels"][number];
