import { graphql, type ResultOf, type VariablesOf } from "../api/graphql";
import { ThingFields } from "../ui/Things";

// $read: whether the token may read the log. Without it, what was not selected is known by its hash alone.
const SourceFields = graphql(
  `
  fragment SourceFields on ContextSource @_unmask {
    __typename
    ... on Message {
      hash sequence content createdAt role quarantined owner { ...ThingFields }
      integrity { erasure @include(if: $read) { hash } }
    }
    ... on Record { hash kind book title text: content createdAt }
  }
`,
  [ThingFields],
);

const ExplanationFields = graphql(`
  fragment ExplanationFields on ScoreExplanation @_unmask {
    relevance lexical semantic neighbours recency preference matchedTerms
  }
`);

const ItemFields = graphql(
  `
  fragment ItemFields on ContextItem @_unmask {
    position hash type score tokens
    explanation { ...ExplanationFields }
    source { ...SourceFields }
  }
`,
  [ExplanationFields, SourceFields],
);

const DroppedFields = graphql(
  `
  fragment DroppedFields on DroppedItem @_unmask {
    hash score tokens reason
    source @include(if: $read) { ...SourceFields }
  }
`,
  [SourceFields],
);

const StageFields = graphql(`
  fragment StageFields on SelectionStage @_unmask { name in out estimated }
`);

const RequestFields = graphql(`
  fragment RequestFields on SelectionRequest @_unmask {
    query player limit threshold tokenBudget previous at
    scope { sessions threads players owners hashtags flags items locations types eventTypes since until }
  }
`);

const PolicyFields = graphql(`
  fragment PolicyFields on RankingPolicy @_unmask {
    version
    weights { name value default min max }
  }
`);

/** What there is to know of a selection. */
export const NoticeFields = graphql(`
  fragment NoticeFields on SelectionNotice @_unmask { code message count best }
`);

const KeptFields = graphql(
  `
  fragment KeptFields on ContextSelection @_unmask {
    id receipt preimage renderedSalt query rendered tokens tokenBudget unchangedTokens logSize
    embeddingModel denseModel notices createdAt
    noticeDetails { ...NoticeFields }
    player { ...ThingFields }
    previous { id }
    items { ...ItemFields }
    dropped { ...DroppedFields }
    stages { ...StageFields }
    request { ...RequestFields }
    policy { ...PolicyFields }
  }
`,
  [ThingFields, ItemFields, DroppedFields, StageFields, RequestFields, PolicyFields, NoticeFields],
);

const TriedFields = graphql(
  `
  fragment TriedFields on ReplayedSelection @_unmask {
    receipt rendered tokens unchangedTokens embeddingModel denseModel
    noticeDetails { ...NoticeFields }
    items { ...ItemFields }
    dropped { ...DroppedFields }
    stages { ...StageFields }
    request { ...RequestFields }
    policy { ...PolicyFields }
  }
`,
  [ItemFields, DroppedFields, StageFields, RequestFields, PolicyFields, NoticeFields],
);

export const SelectionQuery = graphql(
  `
  query Selection($id: ID!, $read: Boolean!) {
    contextSelection(id: $id) { ...KeptFields }
  }
`,
  [KeptFields],
);

export const ReplaySelection = graphql(
  `
  query ReplaySelection($id: ID!, $weights: [WeightInput!], $log: ReplayLog, $read: Boolean!) {
    replayContext(id: $id, weights: $weights, logSize: $log) {
      identical untold
      causes { kind message alone messages @include(if: $read) { hash sequence owner { ...ThingFields } } }
      selection { ...TriedFields }
    }
  }
`,
  [ThingFields, TriedFields],
);

export const TryContext = graphql(
  `
  query TryContext($request: ContextRequestInput!, $weights: [WeightInput!], $read: Boolean!) {
    tryContext(request: $request, weights: $weights) { ...TriedFields }
  }
`,
  [TriedFields],
);

export const WhyNotQuery = graphql(
  `
  query WhyNot($selection: ID!, $hash: Hash, $text: String, $read: Boolean!) {
    whyNot(selection: $selection, hash: $hash, text: $text) {
      verdicts {
        hash kind stage position rank score tokens near
        explanation { ...ExplanationFields }
        source @include(if: $read) { ...SourceFields }
      }
    }
  }
`,
  [ExplanationFields, SourceFields],
);

export const PolicyQuery = graphql(
  `
  query RankingPolicy {
    rankingPolicy { ...PolicyFields }
  }
`,
  [PolicyFields],
);

/** A selection as it was given. */
export type Selection = NonNullable<ResultOf<typeof SelectionQuery>["contextSelection"]>;

/** A selection that was computed, and is not kept. */
export type Tried = ResultOf<typeof TryContext>["tryContext"];

/** What computing a selection again has shown. */
export type Replay = ResultOf<typeof ReplaySelection>["replayContext"];

/** A selected message or record, with its score. */
export type Selected = Selection["items"][number];

/** What ranked within reach and was left out. */
export type Dropped = Selection["dropped"][number];

/** The parts of a score. */
export type Explanation = Selected["explanation"];

/** A message or record, as a result shows it. */
export type Source = ResultOf<typeof SourceFields>;

/** How many came to a stage and left it. */
export type Stage = NonNullable<Selection["stages"]>[number];

/** What there is to know of a selection. */
export type Notice = Selection["noticeDetails"][number];

/** What was asked, all of it. */
export type Asked = Selection["request"];

/** The policy of a ranking. */
export type Policy = Selection["policy"];

/** Another value for a constant of the ranking. */
export type WeightInput = NonNullable<NonNullable<VariablesOf<typeof TryContext>["weights"]>[number]>;

/** What became of a message or record. */
export type Verdict = ResultOf<typeof WhyNotQuery>["whyNot"]["verdicts"][number];
