package ranking

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tzzr/context-manager/internal/fault"
)

// WeightName names a constant of the ranking.
type WeightName string

// Weight is a constant of a policy with what it may be asked to be.
type Weight struct {
	Name        WeightName
	Value       float64
	Default     float64 // in the policy in use
	Min, Max    float64
	Description string
}

// Set is another value for a constant.
type Set struct {
	Name  WeightName
	Value float64
}

// TriedSuffix ends the version of a policy with other weights than the version stands for.
const TriedSuffix = "+weights"

// knob is a constant that can be set, within bounds between which every score stays in [0, 1].
type knob struct {
	name     WeightName
	min, max float64
	whole    bool
	about    string
	get      func(*Policy) float64
	set      func(*Policy, float64)
}

// knobs are all constants, in the order of Policy.
var knobs = append(append(around("before", "before", func(p *Policy) *[]float64 { return &p.Before }),
	around("after", "after", func(p *Policy) *[]float64 { return &p.After })...),
	factor("answer", 0, 2, "What a message gets besides of the share of the one directly before, if that asks.", func(p *Policy) *float64 { return &p.Answer }),
	factor("session", 0, 2, "The part that a message gets of the root of the sum of its session's greatest squared shares.", func(p *Policy) *float64 { return &p.Session }),
	knob{"session_top", 0, 2000, true, "How many of its session's shares, the greatest, that sum has; 0: all.",
		func(p *Policy) float64 { return float64(p.SessionTop) }, func(p *Policy, v float64) { p.SessionTop = int(v) }},
	factor("owner", 0, 2, "Added, as a part of the best share, when the query names the message's owner.", func(p *Policy) *float64 { return &p.Owner }),
	factor("time", 0, 2, "Added, as a part of the best share, when the query asks for a time and the message tells one.", func(p *Policy) *float64 { return &p.Time }),
	factor("date", 0, 2, "Added, as a part of the best share, when the query names a time and the message was sent then or soon after.", func(p *Policy) *float64 { return &p.Date }),
	knob{"date_told", 0, 366, true, "How many days after a time that the query names still count.",
		func(p *Policy) float64 { return float64(p.DateTold) }, func(p *Policy, v float64) { p.DateTold = int(v) }},
	factor("opening", 0, 2, "Added, as a part of the best share, to the first message of its session if it has a share of its own.", func(p *Policy) *float64 { return &p.Opening }),
	factor("question", 0, 2, "Taken off, as a part of the best share, when the message asks.", func(p *Policy) *float64 { return &p.Question }),
	factor("record", 0, 5, "Multiplies the share of a record, which has no neighbours to add theirs.", func(p *Policy) *float64 { return &p.Record }),
	factor("middle", 0.01, 5, "The sum at which a candidate is as likely as not what was asked for: relevance 0.7.", func(p *Policy) *float64 { return &p.Middle }),
	factor("semantic", 0, 1, "The part of what words leave that a dense vector can add at most.", func(p *Policy) *float64 { return &p.Semantic }),
	factor("semantic_floor", 0, 20, "How far above the cosines of what is unrelated, in spreads of these, a cosine still means nothing.", func(p *Policy) *float64 { return &p.SemanticFloor }),
	factor("semantic_middle", 0.01, 20, "How much farther, in spreads, a cosine alone gives a relevance of 0.7.", func(p *Policy) *float64 { return &p.SemanticMiddle }),
	factor("recency", 0, 1, "Added to the score of what is new.", func(p *Policy) *float64 { return &p.Recency }),
	knob{"recency_window", 0, 31_622_400, true, "How many seconds new lasts.",
		func(p *Policy) float64 { return float64(p.RecencyWindow) }, func(p *Policy, v float64) { p.RecencyWindow = int64(v) }},
	factor("preference", 0, 1, "Added to the score of what matches the player's preferences.", func(p *Policy) *float64 { return &p.Preference }),
)

func factor(name WeightName, least, most float64, about string, of func(*Policy) *float64) knob {
	return knob{name, least, most, false, about, func(p *Policy) float64 { return *of(p) }, func(p *Policy, v float64) { *of(p) = v }}
}

// around are the parts by distance. A policy that has fewer gives nothing from so far.
func around(name WeightName, where string, of func(*Policy) *[]float64) []knob {
	standard := Default()
	list := make([]knob, len(*of(&standard)))
	for i := range list {
		list[i] = knob{
			WeightName(fmt.Sprintf("%s_%d", name, i+1)), 0, 2, false,
			fmt.Sprintf("The part that a message gets of the share of the one %d %s it in its session.", i+1, where),
			func(p *Policy) float64 {
				if i < len(*of(p)) {
					return (*of(p))[i]
				}
				return 0
			},
			func(p *Policy, v float64) { (*of(p))[i] = v },
		}
	}
	return list
}

// Weights gives the constants of a policy.
func (p Policy) Weights() []Weight {
	standard := Default()
	out := make([]Weight, len(knobs))
	for i, k := range knobs {
		out[i] = Weight{Name: k.name, Value: k.get(&p), Default: k.get(&standard), Min: k.min, Max: k.max, Description: k.about}
	}
	return out
}

// With gives the policy in use with other weights, under a version that says so; the same policy if they are those that it
// has. The fault names the entry below field.
func With(sets []Set, field string) (Policy, error) {
	p := Default()
	if len(sets) > len(knobs) {
		return p, fault.Input(field, "has %d entries; at most %d are allowed", len(sets), len(knobs))
	}
	given := map[WeightName]bool{}
	for i, s := range sets {
		at := fmt.Sprintf("%s[%d]", field, i)
		if given[s.Name] {
			return p, fault.Input(at+".name", "%s is there twice", s.Name)
		}
		given[s.Name] = true
		if err := p.put(s, at); err != nil {
			return p, err
		}
	}
	if standard := Default(); string(p.Canonical()) != string(standard.Canonical()) {
		p.Version += TriedSuffix
	}
	return p, nil
}

func (p *Policy) put(s Set, at string) error {
	for _, k := range knobs {
		if k.name != s.Name {
			continue
		}
		if !(s.Value >= k.min && s.Value <= k.max) { // NaN is neither
			return fault.Input(at+".value", "%s is outside of %s to %s", digits(s.Value), digits(k.min), digits(k.max))
		}
		if k.whole && s.Value != math.Trunc(s.Value) {
			return fault.Input(at+".value", "%s is no whole number", digits(s.Value))
		}
		k.set(p, s.Value)
		return nil
	}
	return fault.Input(at+".name", "there is no weight %s", s.Name)
}

func digits(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
