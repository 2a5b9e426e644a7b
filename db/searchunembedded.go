package db

import (
	"context"
	"slices"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
)

// sources are messages and records by their ids, ascending.
type sources struct{ messages, records []int64 }

func (l *sources) add(of source) { l.messages, l.records = split(l.messages, l.records, of) }

func (l *sources) sort() {
	slices.Sort(l.messages)
	slices.Sort(l.records)
}

func (l *sources) holds(of source) (held bool) {
	ids := l.records
	if of.kind == chain.RefContext {
		ids = l.messages
	}
	_, held = slices.BinarySearch(ids, of.id)
	return held
}

// findUnembedded notes which candidates have no dense vector, for they may have one when this is asked again, and
// whether any of them is still to get one: others were refused by the provider.
func (s *search) findUnembedded(ctx context.Context) (err error) {
	if s.dense == nil || s.at != nil {
		return nil
	}
	without := &s.result.unembedded
	for of, c := range s.found {
		if c.cosine == nil && s.told[of] != nil {
			without.add(of)
		}
	}
	if len(without.messages)+len(without.records) == 0 {
		return nil
	}
	without.sort()
	s.result.awaits, err = dbgen.New(s.tx).AwaitsVectors(ctx, s.dense.model, list(without.messages), list(without.records))
	return err
}
