// Package selection is the outcome of a request for context: which items were taken and dropped, and why, within
// which budget, with a receipt that commits to all of it. It is pure: it packs what it is given, and neither
// searches nor keeps anything.
package selection

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Selection is the ranked context that somebody asked for and got. Its JSON, with the fields in this order and
// without the first three, is what the receipt commits to.
type Selection struct {
	ID        string     `json:"-"`
	Receipt   chain.Hash `json:"-"`
	CreatedAt time.Time  `json:"-"`

	Request     Request         `json:"request"`
	Policy      json.RawMessage `json:"policy"` // canonical
	LogPosition int64           `json:"logPosition"`
	LogSize     int64           `json:"logSize"`
	Model       string          `json:"model"`
	Items       []Item          `json:"items"`
	Dropped     []Dropped       `json:"dropped"`
	Rendered    string          `json:"rendered"`
	Tokens      int             `json:"tokens"`
}

const receiptLabel = "context-manager/selection/v1\n"

// Preimage gives the bytes that the receipt covers: a label, then the selection's JSON, without white space, with
// the fields in the order of the struct. docs/selection.md says how to make them elsewhere.
func (s *Selection) Preimage() ([]byte, error) {
	out := bytes.NewBufferString(receiptLabel)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// ComputeReceipt is the SHA-256 of the preimage: it commits to the request, the policy, the log position and the
// result.
func (s *Selection) ComputeReceipt() (chain.Hash, error) {
	preimage, err := s.Preimage()
	return chain.Sum(preimage), err
}
