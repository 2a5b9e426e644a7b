package selection

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// kept is a selection with a value in every field.
func kept() Selection {
	budget, semantic, player := 90, 0.25, chain.Hash{1}
	return Selection{
		Request: Request{
			Query: "<b>", Player: &player, Limit: 5, Threshold: 0.5, TokenBudget: &budget, At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
			Scope: Scope{Types: []chain.RefType{chain.RefContext}},
		},
		Policy: json.RawMessage(`{"version":"p"}`), LogPosition: 7, LogSize: 6, Model: "m",
		Items: []Item{{
			Position: 1, Hash: chain.Hash{2}, Type: chain.RefContext, Score: 0.75, Tokens: 3,
			Explanation: Explanation{Relevance: 0.5, Lexical: 0.25, Semantic: &semantic, Neighbours: 0.125, Recency: 0.1, Preference: 0.15, MatchedTerms: []string{"secret"}},
		}},
		Dropped:  []Dropped{{Hash: chain.Hash{3}, Type: chain.RefSecretary, Score: 0.25, Tokens: 4, Reason: OverLimit}},
		Rendered: "Relevant Context:\n- the secret", Tokens: 8,
	}
}

func salt() []byte { return []byte("0123456789abcdef") }

// latest is kept with a value in every field of version 3.
func latest() Selection {
	s, position, previous := kept(), int64(4), chain.Hash{9}
	s.RecordPosition, s.Absent, s.DenseModel, s.Notices, s.UnchangedTokens = &position, []int64{5, 6}, "d", []string{"<late>"}, 3
	s.Request.Previous = &previous
	return s
}

// The bytes are those that docs/selection.md describes: they must never change.
func TestPreimageIsFixed(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 62)
	request := `{"request":{"query":"<b>","scope":{"types":["context"]},"player":"01` + zeros + `","limit":5,"threshold":0.5,"tokenBudget":90,`
	at := `"at":"2026-01-02T03:04:05.000006Z"},"policy":{"version":"p"},`
	items := `"items":[{"position":1,"hash":"02` + zeros + `","type":"context","score":0.75,"explanation":{"relevance":0.5,"lexical":0.25,"semantic":0.25,"neighbours":0.125,"recency":0.1,"preference":0.15`
	dropped := `},"tokens":3}],"dropped":[{"hash":"03` + zeros + `","type":"secretary","score":0.25,"tokens":4,"reason":"over_limit"}],`
	digest := `"renderedDigest":"` + chain.Sum([]byte("0123456789abcdefRelevant Context:\n- the secret")).String() + `","tokens":8`
	log := `"logPosition":7,"logSize":6,`
	first, second, third, least := kept(), kept(), latest(), kept()
	least.RecordPosition, least.Notices = new(int64), []string{}
	for _, s := range []*Selection{&second, &third, &least} {
		if err := s.Commit(salt()); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		s    Selection
		want string
	}{
		"version 1": {first, "context-manager/selection/v1\n" + request + at + log + `"model":"m",` + items + `,"matchedTerms":["secret"]` + dropped +
			`"rendered":"Relevant Context:\n- the secret","tokens":8}`},
		"version 2": {second, "context-manager/selection/v2\n" + request + at + log + `"model":"m",` + items + dropped + digest + `}`},
		"version 3": {third, "context-manager/selection/v3\n" + request + `"previous":"09` + zeros + `",` + at + `"model":"m","denseModel":"d",` + log +
			`"absent":[5,6],"recordPosition":4,"notices":["<late>"],` + items + dropped + digest + `,"unchangedTokens":3}`},
		"version 3, the least": {least, "context-manager/selection/v3\n" + request + at + `"model":"m",` + log + `"recordPosition":0,"notices":[],` +
			items + dropped + digest + `,"unchangedTokens":0}`},
	} {
		if got, err := c.s.Preimage(); err != nil || string(got) != c.want {
			t.Errorf("%s: Preimage() = %s, %v; want %s", name, got, err, c.want)
		}
		if c.s.RenderedDigest != nil && c.s.Receipt != chain.Sum([]byte(c.want)) {
			t.Errorf("%s: Receipt = %s, want %s", name, c.s.Receipt, chain.Sum([]byte(c.want)))
		}
	}
}

// The salt is that of docs/selection.md, and depends on each message's.
func TestSalt(t *testing.T) {
	t.Parallel()
	one, two := []byte("0123456789abcdef"), []byte("fedcba9876543210")
	sum := chain.Sum([]byte("context-manager/selection-salt/v1\n0123456789abcdeffedcba9876543210"))
	if got, err := Salt([][]byte{one, two}); err != nil || string(got) != string(sum[:16]) {
		t.Errorf("Salt() = %x, %v; want %x", got, err, sum[:16])
	}
	if _, err := Salt([][]byte{one, nil}); err == nil {
		t.Error("Salt() takes a message without a salt: its text could be guessed")
	}
	seen := map[string]bool{}
	for _, salts := range [][][]byte{nil, {one}, {two}, {one, two}, {two, one}} {
		salt, err := Salt(salts)
		if err != nil {
			t.Error(err)
		}
		seen[string(salt)] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d salts of 5 lists", len(seen))
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	one := func(s *Selection) {
		s.RenderedDigest, s.RenderedSalt, s.RecordPosition = nil, nil, nil
		s.Receipt, _ = s.ComputeReceipt()
	}
	erase := func(s *Selection) {
		s.Erased, s.RenderedSalt, s.Rendered, s.Items[0].Explanation.MatchedTerms = true, nil, "Relevant Context:\n- [erased]", []string{}
	}
	tests := []struct {
		name            string
		change          func(*Selection)
		holds, preimage bool
	}{
		{"as it was made", func(*Selection) {}, true, true},
		{"with a text erased", erase, true, true},
		{"with another block", func(s *Selection) { s.Rendered += " " }, false, true},
		{"with another salt", func(s *Selection) { s.RenderedSalt[0]++ }, false, true},
		{"with another digest", func(s *Selection) { s.RenderedDigest[0]++ }, false, true},
		{"with another score", func(s *Selection) { s.Items[0].Score /= 2 }, false, true},
		{"with another receipt", func(s *Selection) { s.Receipt[0]++ }, false, true},
		{"erased, with another score", func(s *Selection) { erase(s); s.Items[0].Score /= 2 }, false, true},
		{"without a salt, though nothing was erased", func(s *Selection) { s.RenderedSalt = nil }, false, true},
		{"with another notice", func(s *Selection) { s.Notices[0] = "" }, false, true},
		{"with another record position", func(s *Selection) { *s.RecordPosition++ }, false, true},
		{"without its record position", func(s *Selection) { s.RecordPosition = nil }, false, true},
		{"version 1", one, true, true},
		{"version 1 with another block", func(s *Selection) { one(s); s.Rendered += " " }, false, true},
		{"version 1 with a text erased", func(s *Selection) { one(s); erase(s) }, false, false},
	}
	for _, c := range tests {
		s := latest()
		if err := s.Commit(salt()); err != nil {
			t.Fatal(err)
		}
		c.change(&s)
		_, err := s.Preimage()
		if got := s.Holds(); got != c.holds || s.HasPreimage() != c.preimage || (err == nil) != c.preimage {
			t.Errorf("%s: Holds() = %t, HasPreimage() = %t, Preimage() gives %v; want %t and %t", c.name, got, s.HasPreimage(), err, c.holds, c.preimage)
		}
	}
	two := kept()
	if err := two.Commit(salt()); err != nil || !two.Holds() {
		t.Errorf("version 2 does not hold: %v", err)
	}
	two.LogSize++
	if two.Holds() {
		t.Error("version 2 holds with another log size")
	}
	for _, length := range []int{0, 15, 17} {
		s := kept()
		if err := s.Commit(make([]byte, length)); err == nil {
			t.Errorf("Commit() takes a salt of %d bytes", length)
		}
	}
}
