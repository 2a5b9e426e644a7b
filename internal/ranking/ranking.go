// Package ranking orders what a search found: it turns how well each candidate's own text matches into a score in
// [0, 1] that also knows what stands around it, who wrote it, how new it is and what the reader prefers.
//
// It is pure: the same candidates, request and policy give the same ranking, in whatever order the candidates come.
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
	Session    string   // of a message: its session's hash; empty for a record
	Sequence   int64    // of a message: its place in the session
	Owner      string   // of a message: its owner's hash
	OwnerNames []string // what the owner is called: name, key, aliases
	CreatedAt  time.Time
	Lexical    float64  // share of what the query could reach, in [0, 1]: the best of its passages
	Semantic   *float64 // cosine of its dense vector with the query's, in [-1, 1]; nil without a model
	Labels     []string // names of its tags, items, location, flag: what a preference may name
	Text       string   // its content, for preferences
}

// Request is what is asked, beside the policy.
type Request struct {
	Query       string
	Preferences []string  // the player's, in words: "hotels with a view"
	At          time.Time // the clock
}

// Scored is a candidate with its score and the parts that give it.
type Scored struct {
	Candidate Candidate

	// Score = min(1, Relevance + Recency + Preference).
	Score float64
	// Relevance = Lexical + Neighbours + Semantic (none counts as 0), in [0, 1].
	Relevance  float64
	Lexical    float64  // what its own words, and its owner's name, gave
	Neighbours float64  // what the messages around it and its session gave
	Semantic   *float64 // what its dense vector gave
	Recency    float64  // 0 or Policy.Recency
	Preference float64  // 0 or Policy.Preference
}
