package ingest

import (
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
)

// ordinals tells identical entries of a file apart: the first is 0, the next 1. It counts in a table of a fixed
// size, so that memory does not grow with the file. Two different entries that share a place in the table only
// make each other's ordinals higher, which does no harm as long as the same file gives the same ordinals.
type ordinals struct {
	counts []uint32
}

// ordinalPlaces makes a table of 16 MiB, of which only what is touched takes memory.
const ordinalPlaces = 1 << 22

func newOrdinals(places int) *ordinals { return &ordinals{counts: make([]uint32, places)} }

// key names an entry for good: "<kind>:<SHA-256 of its JSON without white space>:<ordinal>".
func (o *ordinals) key(kind string, entry jsontext.Value) (string, error) {
	compact := entry.Clone()
	if err := compact.Compact(); err != nil {
		return "", fmt.Errorf("compact: %w", err)
	}
	sum := chain.Sum(compact)
	place := &o.counts[binary.BigEndian.Uint32(sum[:])%uint32(len(o.counts))]
	ordinal := *place
	*place++
	return fmt.Sprintf("%s:%s:%d", kind, sum, ordinal), nil
}
