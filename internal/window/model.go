package window

import "context"

// Judge tells whether texts contradict each other. It is safe for concurrent use.
type Judge interface {
	// Judge gives a verdict for each pair, in their order.
	//
	// Faults: what keeps it from judging, such as UNAVAILABLE. It never guesses then.
	Judge(ctx context.Context, pairs []Pair) ([]Verdict, error)
}

// Pair is two texts to compare. What is said of one need not be said in the words of the other, nor in its language.
type Pair struct{ Known, New string }

// Relation is how a text stands to another.
type Relation int

// The relations.
const (
	Unrelated   Relation = iota // neither speaks to what the other says, as far as the judge can tell
	Agrees                      // the new text says what the known one says, or part of it
	Contradicts                 // both cannot be true, or be wanted, at the same time
)

// Verdict is what a judge says of a pair.
type Verdict struct {
	Relation Relation
	Reason   string // one sentence, in English, that quotes what contradicts or agrees; empty if unrelated
	By       string // who judged: RulesName, or a model's name
	Fallback string // why another judge that was asked first did not; empty: it was the first
}

// Names of what is built in.
const (
	RulesName      = "rules"
	ExtractiveName = "extractive"
)

// Summariser makes one text of many. It is safe for concurrent use.
type Summariser interface {
	// Summarise gives a summary of at most budget tokens of token.DefaultEncoding. Parts are in the order in which they were
	// said. Without parts, or with a budget that nothing fits into, it is empty.
	//
	// Faults: what keeps it from summarising, such as UNAVAILABLE.
	Summarise(ctx context.Context, parts []Part, budget int) (Summary, error)
}

// Part is what a summary is made of.
type Part struct {
	Speaker string // "user", "assistant", "tool" or empty
	Content string
	Vital   bool // a decision, a preference or a goal: its names, numbers and dates must be in the summary as long as they fit
}

// Summary is what a summariser made.
type Summary struct {
	Text     string
	Tokens   int
	By       string // who made it: ExtractiveName, or a model's name
	Fallback string // why another summariser that was asked first did not; empty: it was the first
}
