package ranking

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/fault"
)

// Every constant is there once, with its default, and setting all of them to what they are changes nothing.
func TestWeightsAreThePolicy(t *testing.T) {
	t.Parallel()
	var same []Set
	names := map[WeightName]bool{}
	for _, w := range Default().Weights() {
		if names[w.Name] || w.Value != w.Default || w.Value < w.Min || w.Value > w.Max || w.Description == "" {
			t.Errorf("weight %+v", w)
		}
		names[w.Name] = true
		same = append(same, Set{w.Name, w.Value})
	}
	p, err := With(same, "weights")
	if err != nil || string(p.Canonical()) != string(Default().Canonical()) {
		t.Errorf("With() what it is = %s, %v", p.Canonical(), err)
	}
	var fields map[string]any
	if err := json.Unmarshal(Default().Canonical(), &fields); err != nil {
		t.Fatal(err)
	}
	constants := len(fields) - 1 - 2 + len(Default().Before) + len(Default().After) // but for the version, and the two lists as such
	if len(names) != constants {
		t.Errorf("there are %d weights for %d constants", len(names), constants)
	}
}

func TestWithRefuses(t *testing.T) {
	t.Parallel()
	for want, sets := range map[string][]Set{
		"w[0].value: 2.5 is outside of 0 to 2":             {{"owner", 2.5}},
		"w[1].value: 0 is outside of 0.01 to 5":            {{"owner", 1}, {"middle", 0}},
		"w[0].value: NaN is outside of 0 to 1":             {{"semantic", math.NaN()}},
		"w[0].value: -Inf is outside of 0 to 1":            {{"recency", math.Inf(-1)}},
		"w[0].value: 1.5 is no whole number":               {{"date_told", 1.5}},
		"w[1].name: owner is there twice":                  {{"owner", 1}, {"owner", 1}},
		"w[0].name: there is no weight nothing":            {{"nothing", 1}},
		"w: has 26 entries; at most 25 are allowed":        make([]Set, 26),
		"w[0].value: 0 is outside of 0.01 to 20":           {{"semantic_middle", 0}},
		"w[0].value: 31622401 is outside of 0 to 31622400": {{"recency_window", 31_622_401}},
	} {
		if _, err := With(sets, "w"); fault.CodeOf(err) != fault.BadUserInput || err.Error() != want {
			t.Errorf("With(%v) = %v, want %q", sets, err, want)
		}
	}
}

// Whatever weights are allowed, scores stay in [0, 1] and their parts give them; and the policy in use stays as it is.
func TestAnyWeightsRank(t *testing.T) {
	t.Parallel()
	before := string(Default().Canonical())
	rapid.Check(t, func(t *rapid.T) {
		var sets []Set
		for _, w := range Default().Weights() {
			if rapid.Bool().Draw(t, "set") {
				value := rapid.OneOf(rapid.SampledFrom([]float64{w.Min, w.Max}), rapid.Float64Range(w.Min, w.Max)).Draw(t, string(w.Name))
				if w.Name == "session_top" || w.Name == "date_told" || w.Name == "recency_window" {
					value = math.Trunc(value)
				}
				sets = append(sets, Set{w.Name, value})
			}
		}
		p, err := With(sets, "weights")
		if err != nil {
			t.Fatal(err)
		}
		changed := string(p.Canonical()) != before
		if (p.Version == Default().Version+TriedSuffix) != changed {
			t.Fatalf("the version of %v is %s", sets, p.Version)
		}
		p.Unrelated = drawnUnrelated(t)
		for _, s := range Rank(drawn(t), Request{Query: "When was Ursula in the hotel yesterday?", Preferences: []string{"view"}, At: noon}, p) {
			parts := s.Lexical + s.Neighbours
			if s.Semantic != nil {
				parts += *s.Semantic
			}
			if math.IsNaN(s.Score) || s.Score < 0 || s.Score > 1 || min(1, parts) != s.Relevance || min(1, s.Relevance+s.Recency+s.Preference) != s.Score {
				t.Fatalf("under %v: %+v", sets, s)
			}
		}
		if string(Default().Canonical()) != before {
			t.Fatal("the policy in use has changed")
		}
	})
}
