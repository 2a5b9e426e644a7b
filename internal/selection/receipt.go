package selection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tzzr/context-manager/internal/chain"
)

// Versions of receipts.
const (
	version1 = 1
	version2 = 2
	version3 = 3
	version4 = 4 // of players, who see a part of the log
)

// SaltBytes is how long the salt of a digest of the rendered block is.
const SaltBytes = 16

// saltLabel keeps a salt apart from other digests of the same bytes.
const saltLabel = "context-manager/selection-salt/v1\n"

// Salt is the salt of a selection whose items are messages with these salts, in order; records have none:
//
//	the first SaltBytes bytes of SHA-256(label ‖ salts)
//
// So equal selections have equal receipts, whoever makes them. A message's salt goes when it is erased, and with it the
// way to this one. Without messages there is no secret in it, and nothing that could be erased.
func Salt(messages [][]byte) ([]byte, error) {
	for _, salt := range messages {
		if len(salt) != chain.SaltBytes {
			return nil, fmt.Errorf("the salt of a message has %d bytes and not %d", len(salt), chain.SaltBytes)
		}
	}
	sum := chain.Sum(append([]byte(saltLabel), bytes.Join(messages, nil)...))
	return sum[:SaltBytes], nil
}

// Commit makes the receipt. It covers the rendered block by RenderedDigest, so that it can still be checked when a text
// in the block has been erased. The salt is Salt's; of version 2, SaltBytes random bytes of this selection alone.
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
func (s *Selection) HasPreimage() bool { return s.version() > version1 || !s.Erased }

// Holds tells whether the receipt is that of the selection as it stands, the block included as long as it can be held
// against its digest: not once a text in it is erased, for the salt goes with it. False in version 1 once a text is
// erased, where nothing can be told any more.
func (s *Selection) Holds() bool {
	receipt, err := s.ComputeReceipt()
	if err != nil || receipt != s.Receipt {
		return false
	}
	return s.version() == version1 || s.Erased || RenderedDigest(s.RenderedSalt, s.Rendered) == *s.RenderedDigest
}

func (s *Selection) version() int {
	switch {
	case s.RenderedDigest == nil:
		return version1
	case s.RecordPosition == nil:
		return version2
	case s.Viewer != nil:
		return version4
	}
	return version3
}

// covered2 is what version 2 covers of a selection. The text of the block enters by its digest, and the words of the
// query that a text holds, which are part of it, do not enter.
type covered2 struct {
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

// covered3 is what version 3 covers.
type covered3 struct {
	Request         Request         `json:"request"`
	Policy          json.RawMessage `json:"policy"`
	Model           string          `json:"model"`
	DenseModel      string          `json:"denseModel,omitempty"`
	LogPosition     int64           `json:"logPosition"`
	LogSize         int64           `json:"logSize"`
	Absent          []int64         `json:"absent,omitempty"`
	RecordPosition  int64           `json:"recordPosition"`
	Notices         []string        `json:"notices"`
	Items           []coveredItem   `json:"items"`
	Dropped         []Dropped       `json:"dropped"`
	RenderedDigest  chain.Hash      `json:"renderedDigest"`
	Tokens          int             `json:"tokens"`
	UnchangedTokens int             `json:"unchangedTokens"`
}

// covered4 is what version 4 covers.
type covered4 struct {
	Viewer          chain.Hash      `json:"viewer"`
	Request         Request         `json:"request"`
	Policy          json.RawMessage `json:"policy"`
	Model           string          `json:"model"`
	DenseModel      string          `json:"denseModel,omitempty"`
	LogSize         int64           `json:"logSize"`
	Newest          *chain.Hash     `json:"newest,omitempty"`
	RecordPosition  int64           `json:"recordPosition"`
	Notices         []string        `json:"notices"`
	Items           []coveredItem   `json:"items"`
	Dropped         []Dropped       `json:"dropped"`
	RenderedDigest  chain.Hash      `json:"renderedDigest"`
	Tokens          int             `json:"tokens"`
	UnchangedTokens int             `json:"unchangedTokens"`
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

// covered gives what the receipt covers, as a value whose JSON it is.
func (s *Selection) covered() any {
	switch s.version() {
	case version1:
		bare := *s
		bare.Items = slices.Clone(s.Items)
		for i := range bare.Items {
			bare.Items[i].Provenance = nil
		}
		return &bare
	case version2:
		return covered2{
			Request: s.Request, Policy: s.Policy, LogPosition: s.LogPosition, LogSize: s.LogSize, Model: s.Model,
			Items: s.coveredItems(), Dropped: s.Dropped, RenderedDigest: *s.RenderedDigest, Tokens: s.Tokens,
		}
	case version4:
		return covered4{
			Viewer: *s.Viewer, Request: s.Request, Policy: s.Policy, Model: s.Model, DenseModel: s.DenseModel, LogSize: s.LogSize,
			Newest: s.Newest, RecordPosition: *s.RecordPosition, Notices: s.Notices, Items: s.coveredItems(), Dropped: s.Dropped,
			RenderedDigest: *s.RenderedDigest, Tokens: s.Tokens, UnchangedTokens: s.UnchangedTokens,
		}
	}
	return covered3{
		Request: s.Request, Policy: s.Policy, Model: s.Model, DenseModel: s.DenseModel, LogPosition: s.LogPosition, LogSize: s.LogSize,
		Absent: s.Absent, RecordPosition: *s.RecordPosition, Notices: s.Notices, Items: s.coveredItems(), Dropped: s.Dropped,
		RenderedDigest: *s.RenderedDigest, Tokens: s.Tokens, UnchangedTokens: s.UnchangedTokens,
	}
}

func (s *Selection) coveredItems() []coveredItem {
	items := make([]coveredItem, len(s.Items))
	for i, item := range s.Items {
		to, e := &items[i], item.Explanation
		to.Position, to.Hash, to.Type, to.Score, to.Tokens = item.Position, item.Hash, item.Type, item.Score, item.Tokens
		to.Explanation.Relevance, to.Explanation.Lexical, to.Explanation.Semantic = e.Relevance, e.Lexical, e.Semantic
		to.Explanation.Neighbours, to.Explanation.Recency, to.Explanation.Preference = e.Neighbours, e.Recency, e.Preference
	}
	return items
}

// Preimage gives the bytes that the receipt covers: the label of its version, then JSON without white space.
// docs/selection.md says how to make them elsewhere. It fails where HasPreimage says no.
func (s *Selection) Preimage() ([]byte, error) {
	if !s.HasPreimage() {
		return nil, fmt.Errorf("the receipt covers a text that was erased")
	}
	out := bytes.NewBufferString(fmt.Sprintf("context-manager/selection/v%d\n", s.version()))
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s.covered()); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// ComputeReceipt is the SHA-256 of the preimage: it commits to the request, the policy, the models, what the search
// could see, and the result.
func (s *Selection) ComputeReceipt() (chain.Hash, error) {
	preimage, err := s.Preimage()
	return chain.Sum(preimage), err
}
