import { graphql, type ResultOf, type VariablesOf } from "../../api/graphql";
import { NoticeFields } from "../../selection/query";
import { ThingFields } from "../../ui/Things";

const QualityFields = graphql(`
  fragment QualityFields on Quality @_unmask { relevance freshness accuracy completeness consistency score }
`);

const RecordFields = graphql(`
  fragment WindowRecordFields on Record @_unmask { hash title }
`);

// $read: whether the token may read the log, and so what items came from.
const ItemFields = graphql(
  `
  fragment WindowItemFields on WindowItem @_unmask {
    id type key content tokens summaryOf injected observedAt addedAt
    quality { ...QualityFields }
    verifiedBy @include(if: $read) { ...WindowRecordFields }
    source @include(if: $read) {
      __typename
      ... on Message { hash sequence owner { ...ThingFields } }
      ... on Record { hash kind book title }
    }
  }
`,
  [ThingFields, QualityFields, RecordFields],
);

export const WindowQuery = graphql(
  `
  query Window($id: ID!, $read: Boolean!) {
    window(id: $id) {
      id name task capacity used usage level encoding createdAt
      agent { ...ThingFields }
      items { ...WindowItemFields }
      segments { id name windowCount windows { id name agent { ...ThingFields } } items { ...WindowItemFields } }
      tools { name description schema tokens shown }
    }
  }
`,
  [ThingFields, ItemFields],
);

const OperationFields = graphql(
  `
  fragment OperationFields on WindowOperation @_unmask {
    id kind at tokensBefore tokensAfter tookMs type content rejected overruled entered left
    by { ...ThingFields }
    quality { ...QualityFields }
    mitigations { failure action reason items record @include(if: $read) { ...WindowRecordFields } }
    compression {
      tokensBefore tokensAfter ratio tookMs
      steps { strategy freed items summary by fallback }
    }
    judgements { relation reason by fallback known item overruled record @include(if: $read) { ...WindowRecordFields } }
    superseded { ...WindowItemFields }
    selection { id query }
  }
`,
  [ThingFields, QualityFields, RecordFields, ItemFields],
);

export const OperationsQuery = graphql(
  `
  query WindowOperations($id: ID!, $after: String, $count: Boolean!, $read: Boolean!) {
    window(id: $id) {
      operations(first: 25, after: $after) {
        edges { node { ...OperationFields } }
        pageInfo { endCursor hasNextPage }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [OperationFields],
);

/** What the chart is drawn from: the latest operations, as many as the server gives at once. */
export const FillQuery = graphql(`
  query WindowFill($id: ID!) {
    window(id: $id) {
      operations(first: 200) {
        edges { node { id kind at tokensAfter } }
        totalCount
      }
    }
  }
`);

/** What is on the scratchpad, without what it says. */
export const ScratchpadQuery = graphql(`
  query Scratchpad($id: ID!, $after: String, $count: Boolean!) {
    window(id: $id) {
      scratchpad(first: 50, after: $after) {
        edges { node { id type tokens createdAt } }
        pageInfo { endCursor hasNextPage }
        totalCount @include(if: $count)
      }
    }
  }
`);

/** The same with what it says, for what operations and summaries name of it. */
export const EntriesQuery = graphql(`
  query ScratchpadEntries($id: ID!, $after: String) {
    window(id: $id) {
      scratchpad(first: 200, after: $after) {
        edges { node { id type tokens createdAt content } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`);

/** One entry. The server records that it was read. */
export const EntryQuery = graphql(`
  query ScratchpadEntry($id: ID!) {
    scratchpadEntry(id: $id) { id type tokens createdAt content }
  }
`);

export const SearchToolsQuery = graphql(`
  query SearchTools($window: ID!, $query: String!, $limit: Int!) {
    searchTools(window: $window, query: $query, limit: $limit) { name description schema tokens shown }
  }
`);

export const WriteContext = graphql(
  `
  mutation WriteContext($input: WriteInput!, $read: Boolean!) {
    writeContext(input: $input) {
      rejected
      operation { ...OperationFields }
    }
  }
`,
  [OperationFields],
);

export const WriteToSegment = graphql(
  `
  mutation WriteToSegment($segment: ID!, $input: WriteInput!, $read: Boolean!) {
    writeToSegment(segment: $segment, input: $input) {
      rejected
      operation { ...OperationFields }
    }
  }
`,
  [OperationFields],
);

/** Windows that something could be shared with. */
export const OthersQuery = graphql(
  `
  query WindowsToShareWith($after: String) {
    windows(first: 100, after: $after) {
      edges { node { id name encoding agent { ...ThingFields } } }
      pageInfo { endCursor hasNextPage }
    }
  }
`,
  [ThingFields],
);

export const CreateSegment = graphql(`
  mutation CreateSegment($name: String!, $windows: [ID!]!) {
    createSegment(name: $name, windows: $windows) { id }
  }
`);

export const SelectIntoWindow = graphql(
  `
  mutation SelectIntoWindow($window: ID!, $input: ContextRequestInput!) {
    selectIntoWindow(window: $window, input: $input) {
      id
      items { hash }
      noticeDetails { ...NoticeFields }
      request { threshold tokenBudget }
    }
  }
`,
  [NoticeFields],
);

export const RegisterTools = graphql(`
  mutation RegisterTools($window: ID!, $tools: [ToolInput!]!, $replace: Boolean!) {
    registerTools(window: $window, tools: $tools, replace: $replace) { name tokens shown }
  }
`);

export const CompressWindow = graphql(`
  mutation CompressWindow($window: ID!, $target: Float!) {
    compressWindow(window: $window, target: $target) { tokensBefore tokensAfter }
  }
`);

export const RemoveFromWindow = graphql(`
  mutation RemoveFromWindow($window: ID!, $items: [ID!]!) {
    removeFromWindow(window: $window, items: $items) { id }
  }
`);

export const Offload = graphql(`
  mutation Offload($window: ID!, $contents: [String!]!) {
    offload(window: $window, contents: $contents) { id }
  }
`);

export const InjectFromScratchpad = graphql(`
  mutation InjectFromScratchpad($window: ID!, $entry: ID!) {
    injectFromScratchpad(window: $window, entry: $entry) { id }
  }
`);

export const OverruleJudgement = graphql(`
  mutation OverruleJudgement($operation: ID!, $reason: String!) {
    overruleJudgement(operation: $operation, reason: $reason) { id }
  }
`);

export const DeleteWindow = graphql(`
  mutation DeleteWindow($id: ID!) {
    deleteWindow(id: $id)
  }
`);

/** A window with what it holds. */
export type WholeWindow = NonNullable<ResultOf<typeof WindowQuery>["window"]>;

/** A piece of a window. */
export type Item = WholeWindow["items"][number];

/** What an item is. */
export type ContentType = Item["type"];

/** How good an item is for its window. */
export type Quality = Item["quality"];

/** What windows share. */
export type Segment = WholeWindow["segments"][number];

/** Something that an agent may call. */
export type Tool = WholeWindow["tools"][number];

/** Something that was done to a window. */
export type Operation = ResultOf<typeof OperationFields>;

/** What a judge said of two texts. */
export type Judgement = Operation["judgements"][number];

/** What was detected, and done about it. */
export type Mitigation = Operation["mitigations"][number];

/** What a compression did. */
export type Compression = NonNullable<Operation["compression"]>;

/** An operation as the chart needs it. */
export type Filled = NonNullable<ResultOf<typeof FillQuery>["window"]>["operations"]["edges"][number]["node"];

/** Something on a scratchpad, without what it says. */
export type Aside = NonNullable<ResultOf<typeof ScratchpadQuery>["window"]>["scratchpad"]["edges"][number]["node"];

/** Something on a scratchpad. */
export type Entry = Aside & { content: string };

/** What is written. */
export type WriteInput = VariablesOf<typeof WriteContext>["input"];

/** A window that something could be shared with. */
export type Other = ResultOf<typeof OthersQuery>["windows"]["edges"][number]["node"];

/** What was selected. */
export type Chosen = ResultOf<typeof SelectIntoWindow>["selectIntoWindow"];

/** What is asked of a selection. */
export type ContextRequest = VariablesOf<typeof SelectIntoWindow>["input"];

/** A tool to register. */
export type ToolInput = NonNullable<VariablesOf<typeof RegisterTools>["tools"]>[number];
