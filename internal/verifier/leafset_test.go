package verifier

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The set agrees with a map, sparse and dense, and names exactly what is missing.
func TestLeafSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		size, count int
	}{{"none", 10, 0}, {"one", 1, 1}, {"sparse", 1 << 20, 3000}, {"half", 200_000, 100_000}, {"all", 140_000, 140_000}} {
		random := rand.New(rand.NewPCG(1, uint64(c.size)))
		var set leafSet
		want := make([]bool, c.size)
		for _, leaf := range random.Perm(c.size)[:c.count] {
			want[leaf] = true
			if !set.add(int64(leaf)) || set.add(int64(leaf)) {
				t.Fatalf("%s: add(%d) twice = not true and then false", c.name, leaf)
			}
		}
		got := make([]bool, c.size)
		for i := range got {
			got[i] = set.has(int64(i))
		}
		if !slices.Equal(got, want) || set.count != int64(c.count) {
			t.Errorf("%s: has or count (%d) differ from what was added", c.name, set.count)
		}
		left := make([]bool, c.size)
		for i := range left {
			left[i] = true
		}
		for _, r := range set.missing(int64(c.size), c.size+1) {
			for i := r.First; i <= r.Last; i++ {
				left[i] = false
			}
		}
		if !slices.Equal(left, want) {
			t.Errorf("%s: missing names other leaves than those that were not added", c.name)
		}
		if got := set.missing(int64(c.size), 3); len(got) > 3 {
			t.Errorf("%s: missing(…, 3) = %d ranges", c.name, len(got))
		}
	}
}

func TestLeafSetFar(t *testing.T) {
	t.Parallel()
	var set leafSet
	set.add(1 << 61)
	if got := set.missing(1<<62, 10); !slices.Equal(got, []Range{{0, 1<<61 - 1}, {1<<61 + 1, 1<<62 - 1}}) {
		t.Errorf("missing = %v", got)
	}
}
