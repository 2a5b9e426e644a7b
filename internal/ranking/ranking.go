// Package ranking orders what a search found: it turns how well each candidate's own text matches into a score in
// [0, 1] that also knows what stands around it, who wrote it, how new it is and what the reader prefers.
//
// It is pure: the same candidates, request and policy give the same ranking, to the last digit, in whatever order the
// candidates come and on every processor. Products are converted to be rounded before they go into a sum, since Go may
// otherwise fuse the two.
// It never searches, reads a clock or keeps anything.
package ranking

import "time"

// Kind says what a candidate is.
type Kind string

// The kinds of candidates.
const (
	Message Kind = "message"
	Record  Kind = "record"
)

// Candidate is one message or record that a search found.
type Candidate struct {
	Hash       string // of the message or record; unique among the candidates
	Kind       Kind
	Session    string   // of a message: its session's hash
	Sequence   int64    // of a message: its place in the session
	OwnerNames []string // of a message: what its owner is called, by name, key or alias
	CreatedAt  time.Time
	Text       string   // its content, or the beginning of it: tells a question, a time, a preference
	Labels     []string // names of its tags, items, location and flag: what a preference may name

	// Share is how much of what the query could reach its text has, in [0, 1]: the best of its passages.
	Share float64
	// Cosine is that of its dense vector and the query's, in [-1, 1]; nil without a model.
	Cosine *float64
}

// Request is what is asked.
type Request struct {
	Query       string
	Preferences []string  // the player's: "vegetarian food"
	At          time.Time // the clock
}

// Scored is a candidate with its score and the parts that add up to it, to the last digit in the order given.
type Scored struct {
	Candidate

	// Score = min(1, Relevance + Recency + Preference).
	Score float64
	// Relevance = Lexical + Neighbours + Semantic, in [0, 1]; a Semantic that is nil counts as 0.
	Relevance  float64
	Lexical    float64  // what its own words and its owner's name gave
	Neighbours float64  // what the messages around it and its session gave
	Semantic   *float64 // what its dense vector added to that; nil without one
	Recency    float64  // 0 or Policy.Recency
	Preference float64  // 0 or Policy.Preference
}
