package evaluation

import (
	"slices"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

func TestRecall(t *testing.T) {
	t.Parallel()
	found := make([]chain.Hash, 60)
	for i := range found {
		found[i] = chain.Hash{byte(i + 1)}
	}
	at := func(places ...int) (evidence []chain.Hash) {
		for _, p := range places {
			evidence = append(evidence, chain.Hash{byte(p)})
		}
		return evidence
	}
	for _, c := range []struct {
		name     string
		found    []chain.Hash
		evidence []chain.Hash
		total    int
		want     [4]float64
	}{
		{"at the edges", found, at(5, 10, 25, 50), 4, [4]float64{0.25, 0.5, 0.75, 1}},
		{"just beyond", found, at(6, 11, 26, 51), 4, [4]float64{0, 0.25, 0.5, 0.75}},
		{"missing evidence counts", found, at(1), 2, [4]float64{0.5, 0.5, 0.5, 0.5}},
		{"fewer than five found", found[:3], at(3, 4), 2, [4]float64{0.5, 0.5, 0.5, 0.5}},
		{"nothing found", nil, at(1), 1, [4]float64{}},
	} {
		if got := recall(c.found, c.evidence, c.total); got != c.want {
			t.Errorf("%s: recall = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSplitEvidence(t *testing.T) {
	t.Parallel()
	got := splitEvidence([]string{"D8:6; D9:17", "D9:17", " D1:1,D1:2\tD1:3 ", "", ";"})
	if want := []string{"D8:6", "D9:17", "D1:1", "D1:2", "D1:3"}; !slices.Equal(got, want) {
		t.Errorf("splitEvidence = %v, want %v", got, want)
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	ms := func(n int) (all []time.Duration) {
		for i := range n {
			all = append(all, time.Duration(i+1)*time.Millisecond)
		}
		return all
	}
	for _, c := range []struct {
		values []time.Duration
		p      float64
		want   float64
	}{
		{ms(100), 50, 50}, {ms(100), 95, 95}, {ms(100), 100, 100}, {ms(1), 95, 1}, {ms(3), 50, 2}, {ms(20), 95, 19}, {nil, 50, 0},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("percentile(%d values, %v) = %v, want %v", len(c.values), c.p, got, c.want)
		}
	}
}
