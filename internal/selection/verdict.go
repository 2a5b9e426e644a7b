package selection

import (
	"fmt"

	"github.com/tzzr/context-manager/internal/chain"
)

// VerdictKind says what became of a message or record in a selection.
type VerdictKind string

// The kinds, besides the reasons to drop something.
const (
	VerdictUnknown     VerdictKind = "unknown"
	VerdictLater       VerdictKind = "later"
	VerdictOutOfScope  VerdictKind = "out_of_scope"
	VerdictErased      VerdictKind = "erased"
	VerdictQuarantined VerdictKind = "quarantined"
	VerdictNotMatched  VerdictKind = "not_matched"
	VerdictOutOfReach  VerdictKind = "out_of_reach"
	VerdictSelected    VerdictKind = "selected"
)

// Verdict is what became of a message or record in a selection.
type Verdict struct {
	Hash        chain.Hash
	Type        chain.RefType // empty of what is unknown
	Kind        VerdictKind
	Position    *int // of an item
	Rank        *int // among all candidates, from 1; nil: not ranked again
	Score       *float64
	Explanation *Explanation
	Tokens      *int
	Near        *chain.Hash // of a near-duplicate, the item that says the same
}

// Held gives the verdict on what a selection holds, item or dropped, as it was kept, and false for anything else.
func (s *Selection) Held(hash chain.Hash) (Verdict, bool) {
	for i := range s.Items {
		if item := &s.Items[i]; item.Hash == hash {
			return Verdict{
				Hash: hash, Type: item.Type, Kind: VerdictSelected, Position: &item.Position, Score: &item.Score,
				Explanation: &item.Explanation, Tokens: &item.Tokens,
			}, true
		}
	}
	for i := range s.Dropped {
		if d := &s.Dropped[i]; d.Hash == hash {
			return Verdict{Hash: hash, Type: d.Type, Kind: VerdictKind(d.Reason), Score: &d.Score, Tokens: &d.Tokens}, true
		}
	}
	return Verdict{}, false
}

// Stage gives the stage that lost it, nil if none did.
func (v Verdict) Stage() *StageName {
	stage, ok := map[VerdictKind]StageName{
		VerdictOutOfScope: InScope, VerdictErased: Candidates, VerdictQuarantined: Candidates, VerdictNotMatched: Candidates,
		VerdictOutOfReach: Ranked, VerdictKind(BelowThreshold): AboveThreshold, VerdictKind(Duplicate): NearDuplicates,
		VerdictKind(Superseded): NearDuplicates, VerdictKind(OverBudget): InBudget, VerdictKind(OverLimit): Selected,
	}[v.Kind]
	if !ok {
		return nil
	}
	return &stage
}

// Message says it in words.
func (v Verdict) Message() string {
	near := "a newer item"
	if v.Near != nil {
		near = v.Near.String()
	}
	switch v.Kind {
	case VerdictUnknown:
		return "There is no such message or record, or none that whoever asked for the selection sees."
	case VerdictLater:
		return "It came after the selection was made, or was not seen yet by whoever asked."
	case VerdictOutOfScope:
		return "The scope that was asked for leaves it out."
	case VerdictErased:
		return "Its content is erased: what it would have been can no longer be told."
	case VerdictQuarantined:
		return "It was in quarantine."
	case VerdictNotMatched:
		return "It was no candidate: nothing in it, or around it, matches the query as well as in others."
	case VerdictOutOfReach:
		if v.Rank == nil {
			return fmt.Sprintf("It was beyond the limit and %d more, which are looked at.", Reach)
		}
		return fmt.Sprintf("It ranked as number %d: the limit and %d more are looked at.", *v.Rank, Reach)
	case VerdictKind(BelowThreshold):
		return "Its score is below the threshold."
	case VerdictKind(Duplicate):
		return "It says the same as " + near + "."
	case VerdictKind(Superseded):
		return "It says nearly the same as " + near + ", with the same numbers."
	case VerdictKind(OverBudget):
		return "It did not fit into what was left of the token budget."
	case VerdictKind(OverLimit):
		return "There were enough better ones."
	case VerdictSelected:
		return fmt.Sprintf("It was selected, as number %d.", *v.Position)
	}
	return ""
}
