package db

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// What is kept in mind of reading has a bound; what is forgotten goes on record once more.
func TestReadingsAreBounded(t *testing.T) {
	t.Parallel()
	r := newReadings()
	now, by := time.Now(), chain.Sum([]byte("by"))
	session := func(i int) (h chain.Hash) {
		binary.BigEndian.PutUint64(h[:], uint64(i))
		return h
	}
	for i := range 10_000 {
		r.learn(now, by, session(i))
	}
	later := now.Add(readingLasts)
	for i := range 3 * maxReadings {
		r.learn(later, by, session(1_000_000+i))
		if len(r.until) > maxReadings {
			t.Fatalf("%d are kept in mind", len(r.until))
		}
	}
	last := session(1_000_000 + 3*maxReadings - 1)
	if got := r.unknown(later, by, map[chain.Hash]bool{last: true, session(1): true}); len(got) != 1 || got[0] != session(1) {
		t.Errorf("unknown are %v, want what is over", got)
	}
	if got := r.unknown(later, chain.Sum([]byte("another")), map[chain.Hash]bool{last: true}); len(got) != 1 {
		t.Error("what one has read is known of another")
	}
}
