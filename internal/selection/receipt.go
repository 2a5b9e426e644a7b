package selection

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tzzr/context-manager/internal/chain"
)

// The labels of the versions of receipts.
const (
	receiptLabel1 = "context-manager/selection/v1\n"
	receiptLabel2 = "context-manager/selection/v2\n"
)

// SaltBytes is how long the salt of a digest of the rendered block is.
const SaltBytes = 16

// Commit makes the receipt, in version 2: it covers the rendered block by RenderedDigest, so that it can still be
// checked when a text in the block has been erased. The salt is SaltBytes random bytes of this selection alone.
func (s *Selection) Commit(salt []byte) error {
	if len(salt) != SaltBytes {
		return fmt.Errorf("the salt of a selection has %d bytes and not %d", len(salt), SaltBytes)
	}
	digest := RenderedDigest(salt, s.Rendered)
	s.RenderedSalt, s.RenderedDigest = salt, &digest
	var err error
	s.Receipt, err = s.ComputeReceipt()
	return err
}

// RenderedDigest is SHA-256(salt ‖ rendered). The salt keeps an erased text from being guessed by it.
func RenderedDigest(salt []byte, rendered string) chain.Hash {
	return chain.Sum(append(bytes.Clone(salt), rendered...))
}

// HasPreimage tells whether the bytes that the receipt covers can still be given: not in version 1, which covers the
// texts themselves, once one of them is erased.
func (s *Selection) HasPreimage() bool { return s.RenderedDigest != nil || !s.Erased }

// Holds tells whether the receipt is that of the selection as it stands, the block included as long as it can be held
// against its digest: not once a text in it is erased, for the salt goes with it. False in version 1 once a text is
// erased, where nothing can be told any more.
func (s *Selection) Holds() bool {
	receipt, err := s.ComputeReceipt()
	if err != nil || receipt != s.Receipt {
		return false
	}
	return s.RenderedDigest == nil || s.Erased || RenderedDigest(s.RenderedSalt, s.Rendered) == *s.RenderedDigest
}

// covered is what version 2 covers of a selection. The text of the block enters by its digest, and the words of the
// query that a text holds, which are part of it, do not enter.
type covered struct {
	Request        Request         `json:"request"`
	Policy         json.RawMessage `json:"policy"`
	LogPosition    int64           `json:"logPosition"`
	LogSize        int64           `json:"logSize"`
	Model          string          `json:"model"`
	Items          []coveredItem   `json:"items"`
	Dropped        []Dropped       `json:"dropped"`
	RenderedDigest chain.Hash      `json:"renderedDigest"`
	Tokens         int             `json:"tokens"`
}

type coveredItem struct {
	Position    int           `json:"position"`
	Hash        chain.Hash    `json:"hash"`
	Type        chain.RefType `json:"type"`
	Score       float64       `json:"score"`
	Explanation struct {
		Relevance  float64  `json:"relevance"`
		Lexical    float64  `json:"lexical"`
		Semantic   *float64 `json:"semantic,omitempty"`
		Neighbours float64  `json:"neighbours"`
		Recency    float64  `json:"recency"`
		Preference float64  `json:"preference"`
	} `json:"explanation"`
	Tokens int `json:"tokens"`
}

func (s *Selection) covered() covered {
	c := covered{
		Request: s.Request, Policy: s.Policy, LogPosition: s.LogPosition, LogSize: s.LogSize, Model: s.Model,
		Items: make([]coveredItem, len(s.Items)), Dropped: s.Dropped, RenderedDigest: *s.RenderedDigest, Tokens: s.Tokens,
	}
	for i, item := range s.Items {
		to, e := &c.Items[i], item.Explanation
		to.Position, to.Hash, to.Type, to.Score, to.Tokens = item.Position, item.Hash, item.Type, item.Score, item.Tokens
		to.Explanation.Relevance, to.Explanation.Lexical, to.Explanation.Semantic = e.Relevance, e.Lexical, e.Semantic
		to.Explanation.Neighbours, to.Explanation.Recency, to.Explanation.Preference = e.Neighbours, e.Recency, e.Preference
	}
	return c
}

// Preimage gives the bytes that the receipt covers: the label of its version, then JSON without white space.
// docs/selection.md says how to make them elsewhere. It fails where HasPreimage says no.
func (s *Selection) Preimage() ([]byte, error) {
	label, value := receiptLabel1, any(s)
	switch {
	case !s.HasPreimage():
		return nil, fmt.Errorf("the receipt covers a text that was erased")
	case s.RenderedDigest != nil:
		label, value = receiptLabel2, s.covered()
	}
	out := bytes.NewBufferString(label)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
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
