package ranking

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSemantic(t *testing.T) {
	t.Parallel()
	cosine := func(v float64) *float64 { return &v }
	p := Default()
	p.Unrelated = &Unrelated{Median: 0.7, Spread: 0.03}
	words := Rank(said("a", 0.3), Request{At: noon}, p)[0]
	if words.Semantic != nil || words.Relevance == 0 {
		t.Errorf("without a cosine: %+v", words)
	}
	left := 1 - words.Relevance
	for _, test := range []struct{ cosine, want float64 }{{-1, 0}, {0.7, 0}, {0.775, 0}, {0.85, 0.7 * left}, {0.925, 0.91 * left}} {
		c := said("a", 0.3)
		c[0].Cosine = cosine(test.cosine)
		got := Rank(c, Request{At: noon}, p)[0]
		if got.Semantic == nil || math.Abs(*got.Semantic-test.want) > 1e-12 || got.Lexical != words.Lexical || got.Neighbours != words.Neighbours {
			t.Errorf("at cosine %v: %+v, want semantic %v and the words' parts as without", test.cosine, got, test.want)
		}
	}
	c := said("a", 0)
	c[0].Cosine = cosine(0.85)
	if got := Rank(c, Request{At: noon}, p)[0].Relevance; math.Abs(got-0.7) > 1e-12 {
		t.Errorf("relevance of the middle = %v, want 0.7", got)
	}
	p.Unrelated = nil // nothing is known of the model
	if got := Rank(c, Request{At: noon}, p)[0]; got.Semantic == nil || *got.Semantic != 0 {
		t.Errorf("without a measure: %+v, want semantic 0", got)
	}
}

// Policies before lexical-v4 rank as they did.
func TestSemanticOfEarlierVersion(t *testing.T) {
	t.Parallel()
	p := Default()
	p.Semantic, p.SemanticFloor, p.SemanticMiddle = 0.5, 0.2, 0
	words := Rank(said("a", 0.3), Request{At: noon}, p)[0]
	for _, test := range []struct{ cosine, want float64 }{{-1, 0}, {0.2, 0}, {0.6, 0.25}, {1, 0.5}, {1.001, 0.5}} {
		c := said("a", 0.3)
		c[0].Cosine = &test.cosine
		got := Rank(c, Request{At: noon}, p)[0]
		if got.Semantic == nil || math.Abs(*got.Semantic-test.want) > 1e-12 || got.Lexical != words.Lexical/2 {
			t.Errorf("at cosine %v: %+v, want semantic %v", test.cosine, got, test.want)
		}
	}
}

// What a dense vector says never lowers a score, and more of it never does.
func TestCosineNeverRanksLower(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		candidates, p := drawn(t), Default()
		p.Unrelated = drawnUnrelated(t)
		if len(candidates) == 0 {
			return
		}
		i := rapid.IntRange(0, len(candidates)-1).Draw(t, "i")
		score := func(cosine *float64) float64 {
			candidates[i].Cosine = cosine
			scored := Rank(candidates, asked, p)
			return scored[slices.IndexFunc(scored, func(s Scored) bool { return s.Hash == candidates[i].Hash })].Score
		}
		some := rapid.Float64Range(-1, 1).Draw(t, "some")
		more := rapid.Float64Range(some, 1).Draw(t, "more")
		if words, less, best := score(nil), score(&some), score(&more); words > less || less > best+1e-15 {
			t.Fatalf("score by words alone = %v, at cosine %v %v, at %v %v", words, some, less, more, best)
		}
	})
}

// drawnUnrelated draws what is known of a model, if anything is.
func drawnUnrelated(t *rapid.T) *Unrelated {
	if !rapid.Bool().Draw(t, "measured") {
		return nil
	}
	return &Unrelated{Median: rapid.Float64Range(-0.2, 0.9).Draw(t, "median"), Spread: rapid.Float64Range(leastSpread, 0.4).Draw(t, "spread")}
}

// Any model's cosines are measured by what is between texts that do not go together, whatever few pairs do.
func TestMeasure(t *testing.T) {
	t.Parallel()
	if _, ok := Measure(make([][]float32, LeastVectors-1)); ok {
		t.Error("few vectors were measured")
	}
	// Vectors around a common direction: the narrower, the greater are their cosines.
	vectors := func(width float64) [][]float32 {
		all := make([][]float32, 100)
		for i := range all {
			v := make([]float32, 64)
			for d := range v {
				v[d] = float32(1 + width*math.Sin(float64(i*i*31+d*d*17+i*d*7)))
			}
			all[i] = v
		}
		return all
	}
	wide, ok := Measure(vectors(10))
	narrow, also := Measure(vectors(1))
	if !ok || !also || wide.Median >= narrow.Median || narrow.Median >= 1 || wide.Spread <= narrow.Spread || narrow.Spread < leastSpread {
		t.Errorf("Measure() = %+v of wide ones, %+v of narrow ones", wide, narrow)
	}
	some := vectors(10)
	some[1] = some[0] // one pair in 4,950
	slices.Reverse(some)
	if got, _ := Measure(some); math.Abs(got.Median-wide.Median) > 0.01 || math.Abs(got.Spread-wide.Spread) > 0.01 {
		t.Errorf("with two that are the same, Measure() = %+v, want about %+v", got, wide)
	}
	if same, _ := Measure(slices.Repeat([][]float32{{1, 2}}, LeastVectors)); same != (Unrelated{Median: 1, Spread: leastSpread}) {
		t.Errorf("of what is all the same, Measure() = %+v", same)
	}
}
