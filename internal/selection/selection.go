// Package selection is the outcome of a request for context: which items were taken and dropped, and why, within
// which budget, with a receipt that commits to all of it. It is pure: it packs what it is given, and neither
// searches nor keeps anything.
package selection

import (
	"encoding/json"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// Explanation is what a score is made of; score = min(1, Relevance + Recency + Preference).
type Explanation struct {
	Relevance    float64  `json:"relevance"` // 0 to 1, calibrated: Lexical + Neighbours + Semantic
	Lexical      float64  `json:"lexical"`
	Semantic     *float64 `json:"semantic,omitempty"` // nil without an embedding model
	Neighbours   float64  `json:"neighbours"`
	Recency      float64  `json:"recency"`
	Preference   float64  `json:"preference"`
	MatchedTerms []string `json:"matchedTerms"`
}

// Item is a message or record that was selected.
type Item struct {
	Position    int           `json:"position"` // from 1
	Hash        chain.Hash    `json:"hash"`
	Type        chain.RefType `json:"type"`
	Score       float64       `json:"score"`
	Explanation Explanation   `json:"explanation"`
	Tokens      int           `json:"tokens"` // of its line
	// Of a message; nil of one that was selected before this was kept.
	Provenance *Provenance `json:"provenance,omitempty"`
}

// Provenance says whose a message is that was selected. The receipt covers it by the message's hash.
type Provenance struct {
	Owner   chain.Hash `json:"owner"`
	Role    *string    `json:"role,omitempty"`
	Source  *string    `json:"source,omitempty"` // which program wrote it
	Session chain.Hash `json:"session"`
}

// DropReason says why something within reach was left out.
type DropReason string

// The reasons.
const (
	BelowThreshold DropReason = "below_threshold"
	OverBudget     DropReason = "over_budget"
	OverLimit      DropReason = "over_limit"
	Duplicate      DropReason = "duplicate"
	Superseded     DropReason = "superseded"
)

// Dropped is a message or record that ranked within reach and was left out.
type Dropped struct {
	Hash   chain.Hash    `json:"hash"`
	Type   chain.RefType `json:"type"`
	Score  float64       `json:"score"`
	Tokens int           `json:"tokens"`
	Reason DropReason    `json:"reason"`
}

// Selection is the ranked context that somebody asked for and got. Preimage says what of it the receipt covers.
type Selection struct {
	ID        string     `json:"-"` // empty for one that is not kept
	Receipt   chain.Hash `json:"-"`
	CreatedAt time.Time  `json:"-"`

	// How the receipt covers Rendered, from version 2 on: see Commit. In version 1 it covers the text itself.
	RenderedDigest *chain.Hash `json:"-"` // nil in version 1
	RenderedSalt   []byte      `json:"-"` // SaltBytes; nil in version 1, and once Erased
	Erased         bool        `json:"-"` // the text of an item is gone from Rendered, with its matched terms

	// From version 3 on.
	RecordPosition  *int64   `json:"-"` // the highest id of a record that was there; nil in earlier versions
	Absent          []int64  `json:"-"` // ids below LogPosition that no message had, ascending
	DenseModel      string   `json:"-"` // empty if no dense vectors took part
	Notices         []string `json:"-"`
	UnchangedTokens int      `json:"-"` // of the part of Rendered that the earlier selection begins with as well

	// What was counted on the way, beside what the receipt covers; nil of what was kept before that was.
	Stages []Stage `json:"-"`

	// Of version 4: LogSize counts what the viewer saw, and Newest stands for LogPosition and Absent, which would tell of
	// what they did not see.
	Viewer *chain.Hash `json:"-"` // whose it is; nil of one who sees all
	Newest *chain.Hash `json:"-"` // the newest message that they saw; nil if they saw none

	Request     Request         `json:"request"`
	Policy      json.RawMessage `json:"policy"` // as it was when the receipt was made, to the byte
	LogPosition int64           `json:"logPosition"`
	LogSize     int64           `json:"logSize"`
	Model       string          `json:"model"`
	Items       []Item          `json:"items"`
	Dropped     []Dropped       `json:"dropped"`
	Rendered    string          `json:"rendered"`
	Tokens      int             `json:"tokens"`
}
