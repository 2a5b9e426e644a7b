package summary

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawUnits gives units with vectors of a few terms.
func drawUnits(t *rapid.T) []unit {
	units := make([]unit, rapid.IntRange(1, 12).Draw(t, "units"))
	for i := range units {
		units[i].part = i / 2
		for term := int32(1); term <= 8; term++ {
			if rapid.Bool().Draw(t, "has") {
				units[i].vector.Terms = append(units[i].vector.Terms, term)
				units[i].vector.Values = append(units[i].vector.Values, rapid.Float32Range(0.1, 2).Draw(t, "value"))
			}
		}
	}
	return units
}

// The graph gives what the matrix of cosines would, written out.
func TestCentralityIsLexRank(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		units := drawUnits(t)
		g, _ := newGraph(units, len(units), goesOn)
		n := len(units)
		cosine := make([][]float64, n)
		degree := make([]float64, n)
		for i := range n {
			cosine[i] = make([]float64, n)
			for k := range n {
				for _, a := range g.rows[i] {
					for _, b := range g.rows[k] {
						if a.column == b.column {
							cosine[i][k] += a.value * b.value
						}
					}
				}
				degree[i] += cosine[i][k]
			}
			if len(units[i].vector.Terms) > 0 && math.Abs(cosine[i][i]-1) > 1e-9 {
				t.Fatalf("cosine of %d with itself = %v, want 1", i, cosine[i][i])
			}
		}
		want := make([]float64, n)
		for i := range want {
			want[i] = 1
		}
		for range 500 {
			next := make([]float64, n)
			for i := range n {
				next[i] = 1 - damping
				for k := range n {
					if degree[k] > 0 {
						next[i] += damping * cosine[k][i] / degree[k] * want[k]
					}
				}
			}
			want = next
		}
		most := 0.0
		for _, w := range want {
			most = max(most, w)
		}
		central, _ := g.centrality(goesOn)
		for i, got := range central {
			if math.Abs(got-want[i]/most) > 0.01 {
				t.Fatalf("centrality of %d = %v, want %v", i, got, want[i]/most)
			}
		}
	})
}

// What is chosen with gains computed only when they may be the best is what is chosen with all of them computed each time.
func TestGreedyIsGreedy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		units := drawUnits(t)
		c := &choice{units: units, weight: make([]float64, len(units)), idf: map[int32]float64{}, chosen: map[int32]int{}}
		plain := &choice{units: units, weight: c.weight, idf: c.idf, chosen: map[int32]int{}}
		var cores, left []*core
		for i := range units {
			units[i].vector.Keys = units[i].vector.Terms
			c.weight[i] = rapid.Float64Range(0.1, 2).Draw(t, "weight")
			tokens := rapid.IntRange(1, 20).Draw(t, "tokens")
			cores = append(cores, &core{part: units[i].part, units: []int{i}, tokens: tokens, answer: 1})
			left = append(left, &core{part: units[i].part, units: []int{i}, tokens: tokens, answer: 1})
			units[i].number = i
		}
		for term := int32(1); term <= 8; term++ {
			c.idf[term] = rapid.Float64Range(0.1, 5).Draw(t, "idf")
		}
		d := &draft{over: goesOn, budget: rapid.IntRange(0, 100).Draw(t, "budget")}
		if err := d.greedy(c, cores); err != nil {
			t.Fatal(err)
		}
		used := 0
		var want []int
		for len(left) > 0 {
			best := 0
			for k := range left {
				if plain.gain(left[k]) > plain.gain(left[best]) {
					best = k
				}
			}
			k := left[best]
			left = append(left[:best], left[best+1:]...)
			if used+k.tokens > d.budget {
				continue
			}
			used += k.tokens
			want = append(want, k.units[0])
			for _, key := range units[k.units[0]].vector.Keys {
				plain.chosen[key]++
			}
		}
		if d.used != used || len(d.kept) != len(want) {
			t.Fatalf("greedy used %d for %d, want %d for %d", d.used, len(d.kept), used, len(want))
		}
		for i, e := range d.kept {
			if e.unit != want[i] {
				t.Fatalf("choice %d = %d, want %d", i, e.unit, want[i])
			}
		}
	})
}
