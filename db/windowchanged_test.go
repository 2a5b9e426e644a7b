package db

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// What leaves a window in one operation costs time in proportion to how much it is: with as many items as there may be, anything
// else takes seconds.
func TestLeavingOfMany(t *testing.T) {
	t.Parallel()
	took := func(n int) time.Duration {
		items, hashes := make([]window.Item, n), make([]string, n)
		for i := range items {
			id := fmt.Sprintf("item%08d", i)
			hash := chain.Sum([]byte(id))
			items[i] = window.Item{ID: id, Place: int64(i), Source: &window.Source{Hash: hash, Type: chain.RefContext}}
			hashes[i] = hash.String()
		}
		o := operation{left: append(slices.Clone(items), items...)}
		best := time.Hour // of several, since the machine may do something else in between
		for range 10 {
			began := time.Now()
			if left := changed(window.Window{Items: items}, window.Change{Kept: items[1:]}); len(left.Items) != 1 {
				t.Fatalf("%d items are left, want 1", len(left.Items))
			}
			if sources := added(window.Outcome{Change: window.Change{Kept: items}}); len(sources) != n {
				t.Fatalf("%d sources, want %d", len(sources), n)
			}
			if sources, err := o.sources(t.Context(), nil, &loaded{}); err != nil || !slices.Equal(sources, hashes) {
				t.Fatalf("an operation's sources are %d, %v, want %d, each once in their order", len(sources), err, n)
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	few, many := took(window.MaxItems/16), took(window.MaxItems)
	if many > 150*few { // squared it would be 256
		t.Errorf("%d items take %v, and 16 times as many %v", window.MaxItems/16, few, many)
	}
}

// Of tools that are too much for any window nothing is counted.
func TestLongToolsAreNotCounted(t *testing.T) {
	t.Parallel()
	tools := make([]window.Tool, 100)
	for i := range tools {
		tools[i] = window.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("does things ", 1000)}
	}
	counted := 0
	err := checkTools(tools, 1, func(string) (int, error) { counted++; return 1, nil })
	if fault.CodeOf(err) != fault.BadUserInput || counted > 0 {
		t.Errorf("checkTools() = %v, %d were counted", err, counted)
	}
}
