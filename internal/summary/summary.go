// Package summary makes summaries of what was said, without a model: it chooses sentences and clauses and keeps them word
// for word, in their order. It is pure: texts in, a text out. It never reads a log, a clock or a random number, and never
// says what was not said.
package summary

import (
	"context"
	"math"

	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// Vector is a text as a sparse vector. Terms are ascending and unique, Values[i] stands at Terms[i]. Keys are those of the
// Terms, ascending, that are words which tell what the text is about.
type Vector struct {
	Terms  []int32
	Values []float32
	Keys   []int32
}

// Lexical gives what makes vectors of texts of at most some hundred bytes. It is called once a summary, so that what it gives
// may remember words and need not be safe for concurrent use.
type Lexical func() func(text string) Vector

// Extractive is the summariser that is built in. Vital parts come first, whole if they fit; if not, cut down to the clauses,
// then the words, that hold their names, numbers and dates, and at last to these alone. What is left of the budget goes to
// the other parts. Each is represented by its core, the sentences that hold most of what it says at the least cost, and
//
//	core's gain = answer · Σ over its sentences of √centrality · factor · Σ over the sentence's new keys of IDF · ½^(times chosen)
//
// is what it adds to those chosen before, where centrality is LexRank's over all sentences, factor favours names, numbers
// and dates and disfavours questions, and answer favours what follows another's question. The core with the best gain a token is
// added until none fits. The gain is submodular (a core adds the less the more was chosen), so that greedy choice by ratio is
// near the best there is.
//
// Sources: G. Erkan, D. Radev, "LexRank: Graph-based Lexical Centrality as Salience in Text Summarization", JAIR 22 (2004),
// section 3.3, the continuous form; H. Lin, J. Bilmes, "Multi-document Summarization via Budgeted Maximization of Submodular
// Functions", NAACL (2010); M. Minoux, "Accelerated Greedy Algorithms for Maximizing Submodular Set Functions" (1978), for
// the order in which gains are computed anew.
//
// The same parts and budget give the same summary. It is safe for concurrent use.
type Extractive struct {
	lexical Lexical
	count   token.Counter
}

var _ window.Summariser = (*Extractive)(nil)

// New makes a summariser. The counter has to be that of token.DefaultEncoding, as the budgets are.
func New(lexical Lexical, count token.Counter) *Extractive { return &Extractive{lexical, count} }

// Summarise is window.Summariser's. It takes time in proportion to the text, and fails only if the counter does or the context
// has ended, at which it looks every few milliseconds: 20,000 messages take seconds.
func (e *Extractive) Summarise(ctx context.Context, parts []window.Part, budget int) (window.Summary, error) {
	summary := window.Summary{By: window.ExtractiveName}
	if budget <= 0 {
		return summary, nil
	}
	d := newDraft(parts, budget, e.lexical(), e.count, ctx.Err)
	if err := d.keepVital(); err != nil {
		return summary, err
	}
	if err := d.addCores(); err != nil {
		return summary, err
	}
	text, tokens, err := d.fit()
	if err != nil {
		return summary, err
	}
	summary.Text, summary.Tokens = text, tokens
	return summary, nil
}

// idf is BM25's: what it tells that a text holds what df of n texts hold.
func idf(df, n int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}
