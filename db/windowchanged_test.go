package db

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/window"
)

// leavingOf makes what it takes to have many items leave a window in one operation, and gives a function that does and checks it.
func leavingOf(t testing.TB, n int) (leave func()) {
	items, hashes := make([]window.Item, n), make([]string, n)
	for i := range items {
		id := fmt.Sprintf("item%08d", i)
		hash := chain.Sum([]byte(id))
		items[i] = window.Item{ID: id, Place: int64(i), Source: &window.Source{Hash: hash, Type: chain.RefContext}}
		hashes[i] = hash.String()
	}
	o := operation{left: append(slices.Clone(items), items...)}
	return func() {
		if left := changed(window.Window{Items: items}, window.Change{Kept: items[1:]}); len(left.Items) != 1 {
			t.Fatalf("%d items are left, want 1", len(left.Items))
		}
		if sources := added(window.Outcome{Change: window.Change{Kept: items}}); len(sources) != n {
			t.Fatalf("%d sources, want %d", len(sources), n)
		}
		if sources, err := o.sources(t.Context(), nil, &loaded{}); err != nil || !slices.Equal(sources, hashes) {
			t.Fatalf("an operation's sources are %d, %v, want %d, each once in their order", len(sources), err, n)
		}
	}
}

// As many items as there may be leave in one operation.
func TestLeavingOfMany(t *testing.T) {
	t.Parallel()
	leavingOf(t, window.MaxItems)()
}

// BenchmarkLeavingOfMany gives what that takes beside a sixteenth as many: 16 times as much if it is in proportion, 256 if it is
// squared.
func BenchmarkLeavingOfMany(b *testing.B) {
	few, many := leavingOf(b, window.MaxItems/16), leavingOf(b, window.MaxItems)
	var tookFew, tookMany time.Duration
	for b.Loop() {
		began := time.Now()
		few()
		between := time.Now()
		many()
		tookFew, tookMany = tookFew+between.Sub(began), tookMany+time.Since(between)
	}
	b.ReportMetric(float64(tookMany)/float64(tookFew), "×sixteenth")
}
