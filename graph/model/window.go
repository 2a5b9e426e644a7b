package model

import (
	"context"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/window"
)

// WindowKind is the type of a window in global ids.
const WindowKind = "ContextWindow"

// ContextWindow is what an agent's model is to see.
type ContextWindow struct {
	Of    window.Window // of a list, without what is in it
	Used  int
	Whole func(ctx context.Context) (window.Window, error) // gives it with that
}

// NewContextWindow shows a window with all that is in it.
func NewContextWindow(w window.Window) ContextWindow {
	return ContextWindow{w, w.Used(), func(context.Context) (window.Window, error) { return w, nil }}
}

// IsNode marks it as readable by its id.
func (ContextWindow) IsNode() {}

// ID is its identity over all types.
func (w ContextWindow) ID() string { return GlobalID(WindowKind, w.Of.ID) }

// Name is as whoever made it calls it.
func (w ContextWindow) Name() string { return w.Of.Name }

// Task is what it is for.
func (w ContextWindow) Task() *string { return optional(w.Of.Task) }

// Capacity is how much it may hold.
func (w ContextWindow) Capacity() int { return w.Of.Capacity }

// Encoding is what tokens are counted in.
func (w ContextWindow) Encoding() string { return w.Of.Encoding }

// CreatedAt is when it was made.
func (w ContextWindow) CreatedAt() time.Time { return w.Of.CreatedAt }

// Usage is how much of the capacity is used.
func (w ContextWindow) Usage() float64 { return float64(w.Used) / float64(w.Of.Capacity) }

// Level is how full it is.
func (w ContextWindow) Level() window.Level { return window.LevelOf(w.Usage()) }

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// WindowItem is a piece of a window.
type WindowItem struct{ window.Item }

// NewWindowItems shows items in prompt order.
func NewWindowItems(items []window.Item) []WindowItem {
	items = window.PromptOrder(items)
	out := make([]WindowItem, len(items))
	for i := range items {
		out[i] = WindowItem{items[i]}
	}
	return out
}

// Key is its slot.
func (i WindowItem) Key() *string { return optional(i.Item.Key) }

// SummaryOf is what it stands for.
func (i WindowItem) SummaryOf() []string { return append([]string{}, i.Item.SummaryOf...) }

// SharedSegment is what several windows see.
type SharedSegment struct {
	window.Segment
	Sharing func(ctx context.Context) ([]ContextWindow, error) // gives the windows that see it
}

// Windows are those that see it.
func (s SharedSegment) Windows(ctx context.Context) ([]ContextWindow, error) { return s.Sharing(ctx) }

// Items is what it holds.
func (s SharedSegment) Items() []WindowItem { return NewWindowItems(s.Segment.Items) }

// WriteResult is what came of a write.
type WriteResult struct {
	Item        *WindowItem
	Quality     window.Quality
	Rejected    *string
	Mitigations []Mitigation
	Compression *Compression
	Judgements  []Judgement
	Operation   *WindowOperation
	Window      ContextWindow
}

// NewWriteResult shows what came of a write.
func NewWriteResult(w db.WindowWritten) WriteResult {
	op := WindowOperation{w.Operation}
	r := WriteResult{
		Quality: w.Quality, Rejected: w.Operation.Rejected, Mitigations: op.Mitigations(), Compression: op.Compression(), Judgements: op.Judgements(),
		Operation: &op, Window: NewContextWindow(w.Window),
	}
	if w.Rejected == "" && w.Item != nil {
		r.Item = &WindowItem{*w.Item}
	}
	return r
}

// Mitigation is a failure that was detected, and what was done about it.
type Mitigation struct{ window.Mitigation }

// Action is what was done.
func (m Mitigation) Action() MitigationAction { return MitigationAction(m.Mitigation.Action) }

// Items are those that it was about.
func (m Mitigation) Items() []string { return append([]string{}, m.Mitigation.Items...) }

// Compression is what a compression did.
type Compression struct{ window.Compression }

// NewCompression shows what a compression did; nil is none.
func NewCompression(c *window.Compression) *Compression {
	if c == nil {
		return nil
	}
	return &Compression{*c}
}

// TokensBefore is what was used before.
func (c Compression) TokensBefore() int { return c.Before }

// TokensAfter is what was used after.
func (c Compression) TokensAfter() int { return c.After }

// TookMs is how long it took.
func (c Compression) TookMs() int { return int(c.Took.Milliseconds()) }

// Steps are what each strategy did.
func (c Compression) Steps() []CompressionStep {
	out := make([]CompressionStep, len(c.Compression.Steps))
	for i, s := range c.Compression.Steps {
		out[i] = CompressionStep{s}
	}
	return out
}

// CompressionStep is what a strategy did.
type CompressionStep struct{ window.Step }

// Items are what left.
func (s CompressionStep) Items() []string { return append([]string{}, s.Step.Items...) }

// Summary is the item that was written.
func (s CompressionStep) Summary() *string { return optional(s.Step.Summary) }

// By is who summarised.
func (s CompressionStep) By() *string { return optional(s.Step.By) }

// Fallback is why the model did not.
func (s CompressionStep) Fallback() *string { return optional(s.Step.Fallback) }

// Judgement is what a judge said.
type Judgement struct {
	window.Judgement
	Overruled bool
}

// Relation is how the texts stand to each other.
func (j Judgement) Relation() TextRelation {
	return []TextRelation{TextRelationUnrelated, TextRelationAgrees, TextRelationContradicts}[j.Verdict.Relation]
}

// Fallback is why the model did not judge.
func (j Judgement) Fallback() *string { return optional(j.Verdict.Fallback) }

// Item is what said so.
func (j Judgement) Item() *string { return optional(j.Judgement.Item) }

// WindowOperation is something that was done to a window.
type WindowOperation struct{ db.WindowOperation }

// ID is its identity.
func (o WindowOperation) ID() string { return o.WindowOperation.ID }

// TokensBefore is what was used before.
func (o WindowOperation) TokensBefore() int { return o.Before }

// TokensAfter is what was used after.
func (o WindowOperation) TokensAfter() int { return o.After }

// TookMs is how long it took.
func (o WindowOperation) TookMs() float64 { return float64(o.Took.Microseconds()) / 1000 }

// Content is what was to enter, or was asked.
func (o WindowOperation) Content() *string {
	if o.Draft != nil && o.WindowOperation.Rejected != nil {
		return &o.Draft.Content
	}
	return o.Query
}

// Mitigations are what was done about failures.
func (o WindowOperation) Mitigations() []Mitigation {
	out := make([]Mitigation, len(o.WindowOperation.Mitigations))
	for i, m := range o.WindowOperation.Mitigations {
		out[i] = Mitigation{m}
	}
	return out
}

// Compression is what was compressed.
func (o WindowOperation) Compression() *Compression {
	return NewCompression(o.WindowOperation.Compression)
}

// Judgements are what judges said.
func (o WindowOperation) Judgements() []Judgement {
	out := make([]Judgement, len(o.WindowOperation.Judgements))
	for i, j := range o.WindowOperation.Judgements {
		out[i] = Judgement{j, o.WindowOperation.Overruled != nil && j.Verdict.Relation == window.Contradicts}
	}
	return out
}

// Entered is what came.
func (o WindowOperation) Entered() []string { return append([]string{}, o.WindowOperation.Entered...) }

// Left is what went for good.
func (o WindowOperation) Left() []string { return append([]string{}, o.Gone...) }

// Superseded is what made way.
func (o WindowOperation) Superseded() []WindowItem {
	out := make([]WindowItem, len(o.WindowOperation.Superseded))
	for i, item := range o.WindowOperation.Superseded {
		out[i] = WindowItem{item}
	}
	return out
}

// Overruled is why an administrator overruled it.
func (o WindowOperation) Overruled() *string { return o.WindowOperation.Overruled }

// ContextMetrics says how windows do.
type ContextMetrics struct{ Of db.ContextMetrics }

// The figures, under the names of the specification.

func (m ContextMetrics) ContextWindowUsageAvg() float64   { return m.Of.UsageAvg }
func (m ContextMetrics) ContextWindowUsageP95() float64   { return m.Of.UsageP95 }
func (m ContextMetrics) CompressionTriggeredCount() int64 { return m.Of.Compressions }
func (m ContextMetrics) CompressionRatioAvg() float64     { return m.Of.RatioAvg }
func (m ContextMetrics) CompressionLatencyP95() float64   { return m.Of.LatencyP95 }
func (m ContextMetrics) PoisoningAttemptsBlocked() int64  { return m.Of.Poisoning }
func (m ContextMetrics) DistractionMitigations() int64    { return m.Of.Distraction }
func (m ContextMetrics) ConfusionMitigations() int64      { return m.Of.Confusion }
func (m ContextMetrics) ClashesResolved() int64           { return m.Of.Clashes }
func (m ContextMetrics) ContextQualityScoreAvg() float64  { return m.Of.ScoreAvg }
func (m ContextMetrics) RelevanceScoreAvg() float64       { return m.Of.RelevanceAvg }
func (m ContextMetrics) AccuracyScoreAvg() float64        { return m.Of.AccuracyAvg }
func (m ContextMetrics) ScratchpadWrites() int64          { return m.Of.ScratchpadWrites }
func (m ContextMetrics) ScratchpadReads() int64           { return m.Of.ScratchpadReads }
func (m ContextMetrics) RagOverToolsCalls() int64         { return m.Of.ToolSearches }
func (m ContextMetrics) WindowCriticalExceeded() int64    { return m.Of.Exceeded }

// ContextWindowConnection is a page of windows.
type ContextWindowConnection struct {
	Edges    []ContextWindowEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c ContextWindowConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// WindowOperationConnection is a page of operations.
type WindowOperationConnection struct {
	Edges    []WindowOperationEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c WindowOperationConnection) TotalCount(ctx context.Context) (int64, error) {
	return c.Count(ctx)
}

// ScratchpadEntryConnection is a page of scratchpad entries.
type ScratchpadEntryConnection struct {
	Edges    []ScratchpadEntryEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c ScratchpadEntryConnection) TotalCount(ctx context.Context) (int64, error) {
	return c.Count(ctx)
}

// MarshalContentType writes what an item is.
func MarshalContentType(v window.ContentType) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalContentType reads what an item is.
func UnmarshalContentType(v any) (window.ContentType, error) {
	return unmarshalEnum[window.ContentType](v)
}

// MarshalWindowLevel writes how full a window is.
func MarshalWindowLevel(v window.Level) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalWindowLevel reads how full a window is.
func UnmarshalWindowLevel(v any) (window.Level, error) { return unmarshalEnum[window.Level](v) }

// MarshalCompressionStrategy writes a step of a compression.
func MarshalCompressionStrategy(v window.Strategy) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalCompressionStrategy reads a step of a compression.
func UnmarshalCompressionStrategy(v any) (window.Strategy, error) {
	return unmarshalEnum[window.Strategy](v)
}

// MarshalContextFailure writes a failure.
func MarshalContextFailure(v window.Failure) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalContextFailure reads a failure.
func UnmarshalContextFailure(v any) (window.Failure, error) { return unmarshalEnum[window.Failure](v) }

// MarshalWindowOperationKind writes what was done.
func MarshalWindowOperationKind(v db.WindowOperationKind) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalWindowOperationKind reads what was done.
func UnmarshalWindowOperationKind(v any) (db.WindowOperationKind, error) {
	return unmarshalEnum[db.WindowOperationKind](v)
}

// WindowTools gives the tools that somebody registers as the domain has them.
func WindowTools(input []ToolInput) []window.Tool {
	tools := make([]window.Tool, len(input))
	for i, t := range input {
		tools[i] = window.Tool{Name: t.Name, Description: t.Description}
		if t.Schema != nil {
			tools[i].Schema = chain.JSON(strings.TrimSpace(string(*t.Schema)))
		}
	}
	return tools
}
