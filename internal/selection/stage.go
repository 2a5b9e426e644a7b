package selection

import "fmt"

// StageName names a stage that a selection goes through.
type StageName string

// The stages, in order.
const (
	InScope        StageName = "in_scope"
	Candidates     StageName = "candidates"
	Ranked         StageName = "ranked"
	AboveThreshold StageName = "above_threshold"
	NearDuplicates StageName = "near_duplicates"
	InBudget       StageName = "in_budget"
	Selected       StageName = "selected"
)

// Stage says how many messages and records came to a stage, and how many left it. Its JSON is what is kept.
type Stage struct {
	Name      StageName `json:"name"`
	In        int64     `json:"in"`
	Out       int64     `json:"out"`
	Estimated bool      `json:"estimated,omitzero"` // by a sample
}

// Searched is what a search counted.
type Searched struct {
	Seen       int64 // messages that it could see, and records of the scope
	InScope    int64
	Candidates int64
	Estimated  bool // InScope is an estimate
}

// Stages puts together what was counted: each stage's Out is the next one's In, and the last one's is the items.
func Stages(s Searched, items []Item, dropped []Dropped) []Stage {
	reached := int64(len(items) + len(dropped))
	if s.Estimated { // what was found was there
		s.InScope = min(max(s.InScope, s.Candidates), max(s.Seen, s.Candidates))
	}
	away := map[DropReason]int64{}
	for _, d := range dropped {
		away[d.Reason]++
	}
	out, in := make([]Stage, 0, 7), max(s.Seen, s.InScope)
	for _, next := range []Stage{
		{Name: InScope, Out: s.InScope, Estimated: s.Estimated},
		{Name: Candidates, Out: s.Candidates, Estimated: s.Estimated},
		{Name: Ranked, Out: reached},
		{Name: AboveThreshold, Out: reached - away[BelowThreshold]},
		{Name: NearDuplicates, Out: reached - away[BelowThreshold] - away[Duplicate] - away[Superseded]},
		{Name: InBudget, Out: int64(len(items)) + away[OverLimit]},
		{Name: Selected, Out: int64(len(items))},
	} {
		next.In, in = in, next.Out
		out = append(out, next)
	}
	return out
}

// Reason says in words why some are left out at the stage.
func (s Stage) Reason() string {
	switch s.Name {
	case InScope:
		return "The scope that was asked for leaves them out."
	case Candidates:
		return "Nothing in them, or around them, matches the query as well as in others; or they are in quarantine, or erased."
	case Ranked:
		return fmt.Sprintf("They are beyond the limit and %d more, which are looked at.", Reach)
	case AboveThreshold:
		return "Their score is below the threshold."
	case NearDuplicates:
		return "A newer item says the same, or nearly."
	case InBudget:
		return "They did not fit into what was left of the token budget."
	case Selected:
		return "There were enough better ones."
	}
	return ""
}
