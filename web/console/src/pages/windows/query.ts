import { graphql, type ResultOf, type VariablesOf } from "../../api/graphql";
import { ThingFields } from "../../ui/Things";

export const WindowsQuery = graphql(
  `
  query Windows($after: String, $count: Boolean!) {
    windows(first: 50, after: $after) {
      edges { node { id name task capacity used usage level createdAt agent { ...ThingFields } } }
      pageInfo { endCursor hasNextPage }
      totalCount @include(if: $count)
    }
  }
`,
  [ThingFields],
);

export const MetricsQuery = graphql(`
  query ContextMetrics($since: Time) {
    contextMetrics(since: $since) {
      contextWindowUsageAvg contextWindowUsageP95
      compressionTriggeredCount compressionRatioAvg compressionLatencyP95
      poisoningAttemptsBlocked distractionMitigations confusionMitigations clashesResolved
      contextQualityScoreAvg relevanceScoreAvg accuracyScoreAvg
      scratchpadWrites scratchpadReads ragOverToolsCalls windowCriticalExceeded
    }
  }
`);

export const CreateWindow = graphql(`
  mutation CreateWindow($input: WindowInput!) {
    createWindow(input: $input) { id }
  }
`);

/** A window as the list shows it. */
export type WindowRow = ResultOf<typeof WindowsQuery>["windows"]["edges"][number]["node"];

/** How full a window is. */
export type Level = WindowRow["level"];

/** How windows do. */
export type Metrics = ResultOf<typeof MetricsQuery>["contextMetrics"];

/** What a window is made from. */
export type WindowInput = VariablesOf<typeof CreateWindow>["input"];
