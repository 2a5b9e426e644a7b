package chain_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
)

// passes tells whether a scan of entries, in the order of their ids, finds nothing wrong.
func passes(entries []*chain.Entry) bool {
	s := chain.NewScan()
	for _, e := range slices.SortedStableFunc(slices.Values(entries), func(a, b *chain.Entry) int { return cmp.Compare(a.ID, b.ID) }) {
		if !s.Add(e) {
			return false
		}
	}
	return s.End()
}

// Chains may be interleaved in any way that keeps each in order.
func TestScanInterleaved(t *testing.T) {
	t.Parallel()
	a, b := written("a", 5), written("b", 4)
	for _, e := range b {
		e.ID++
		seal(e)
	}
	s := chain.NewScan()
	all := append(a, b...)
	slices.SortFunc(all, func(x, y *chain.Entry) int { return cmp.Compare(x.ID, y.ID) })
	for i, e := range all {
		if !s.Add(e) {
			t.Fatalf("Add(entry %d) = false, want true", i)
		}
	}
	if s.Sessions() != 2 || s.Messages() != 9 || s.Refs() != 7 || !s.End() {
		t.Errorf("%d sessions, %d messages, %d refs, end %t; want 2, 9, 7 and true", s.Sessions(), s.Messages(), s.Refs(), s.End())
	}
}

// An erasure counts in its own session only.
func TestScanErasureElsewhere(t *testing.T) {
	t.Parallel()
	l := erased(t)
	if !passes(l) {
		t.Fatal("the scan finds something wrong with an erasure on record")
	}
	other := written("other", 2)
	for _, e := range other {
		e.ID -= 90
		seal(e)
	}
	gone(other[0])
	if passes(append(other, l...)) {
		t.Error("the scan passes a content that is gone without an erasure in its session")
	}
	other = written("other", 1)
	other[0].ID, other[0].EventType, other[0].Refs = 900, chain.EventErasure, l[4].Refs
	other[0].RefsDigest = l[4].RefsDigest
	seal(other[0])
	if passes(append(l, other...)) {
		t.Error("the scan passes an erasure of another session's message")
	}
}
