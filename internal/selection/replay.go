package selection

import (
	"fmt"
	"slices"

	"github.com/tzzr/context-manager/internal/chain"
)

// Replay is what computing a selection's request again has shown.
type Replay struct {
	Original    Selection
	Replayed    Selection // made again: it is not kept, and has no ID
	Identical   bool      // the receipts are the same
	Causes      []Cause   // why they are not
	Differences []string  // in words
	Untold      []string  // what was not kept with the original, and cannot be told therefore
}

// CauseKind says what kind of change makes a replay differ.
type CauseKind string

// The kinds.
const (
	CausePolicy      CauseKind = "policy"
	CauseModel       CauseKind = "model"
	CauseErased      CauseKind = "erased"
	CauseComponents  CauseKind = "components"
	CauseLate        CauseKind = "late"
	CauseQuarantined CauseKind = "quarantined"
	CauseUnknown     CauseKind = "unknown"
)

// Cause is something that has changed since a selection was made and can make its replay differ.
type Cause struct {
	Kind     CauseKind
	Message  string
	Alone    *bool        // whether the replay is identical without this change; nil if that cannot be tried
	Messages []chain.Hash // those that were erased, or quarantined
}

// maxDifferences bounds how many differences are told.
const maxDifferences = 100

// Differences says in words how a replay differs from the original: first what was selected, then what was not.
func Differences(original, replayed *Selection) []string {
	var out []string
	tell := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	was, is := placesOf(original), placesOf(replayed)
	for _, hash := range hashesOf(original, replayed) {
		before, after := was[hash], is[hash]
		switch {
		case before.text != after.text:
			tell("%s is %s, and was %s", hash, after, before)
		case before.score != after.score:
			tell("%s has a score of %v, and had %v", hash, after.score, before.score)
		case before.tokens != after.tokens:
			tell("%s costs %d tokens, and cost %d", hash, after.tokens, before.tokens)
		case before.parts != after.parts:
			tell("the score of %s has other parts: %s, and had %s", hash, after.parts, before.parts)
		}
	}
	if !original.Erased && original.Rendered != replayed.Rendered {
		tell("the block is another")
	}
	if !slices.Equal(original.Notices, replayed.Notices) {
		tell("the notices are %q, and were %q", replayed.Notices, original.Notices)
	}
	if original.UnchangedTokens != replayed.UnchangedTokens {
		tell("%d tokens are those of the earlier selection, and %d were", replayed.UnchangedTokens, original.UnchangedTokens)
	}
	if len(out) > maxDifferences {
		out = append(out[:maxDifferences], fmt.Sprintf("and %d more", len(out)-maxDifferences))
	}
	return out
}

// outcome is what became of a message or record.
type outcome struct {
	text   string
	score  float64
	tokens int
	parts  string
}

func (o outcome) String() string {
	if o.text == "" {
		return "out of reach"
	}
	return o.text
}

func placesOf(s *Selection) map[chain.Hash]outcome {
	places := make(map[chain.Hash]outcome, len(s.Items)+len(s.Dropped))
	for _, item := range s.Items {
		e := item.Explanation
		semantic := 0.0
		if e.Semantic != nil {
			semantic = *e.Semantic
		}
		places[item.Hash] = outcome{fmt.Sprintf("item %d", item.Position), item.Score, item.Tokens,
			fmt.Sprintf("lexical %v, semantic %v, neighbours %v, recency %v, preference %v", e.Lexical, semantic, e.Neighbours, e.Recency, e.Preference)}
	}
	for _, d := range s.Dropped {
		places[d.Hash] = outcome{"dropped as " + string(d.Reason), d.Score, d.Tokens, ""}
	}
	return places
}

// hashesOf gives what either names, items first, each once.
func hashesOf(selections ...*Selection) []chain.Hash {
	var out []chain.Hash
	seen := map[chain.Hash]bool{}
	add := func(hash chain.Hash) {
		if !seen[hash] {
			seen[hash], out = true, append(out, hash)
		}
	}
	for _, s := range selections {
		for _, item := range s.Items {
			add(item.Hash)
		}
	}
	for _, s := range selections {
		for _, d := range s.Dropped {
			add(d.Hash)
		}
	}
	return out
}

// CommitLike makes the receipt of a replay, in the version of the original's.
func (s *Selection) CommitLike(original *Selection, salt []byte) error {
	switch original.version() {
	case version1:
		s.RecordPosition = nil
		var err error
		s.Receipt, err = s.ComputeReceipt()
		return err
	case version2:
		s.RecordPosition = nil
		if original.RenderedSalt != nil {
			salt = original.RenderedSalt
		}
	}
	return s.Commit(salt)
}
