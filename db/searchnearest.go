package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// findNearest adds what is near to the query's dense vector, and says of every candidate how near it is.
func (s *search) findNearest(ctx context.Context) error {
	if s.dense == nil {
		return nil
	}
	hits := s.nearest
	if hits == nil {
		var err error
		at := s.result.at
		at.absent = s.unseen()
		if hits, err = denseNearest(ctx, s.tx, *s.dense, s.request.Scope, s.ids, &at, maxNearest, s.viewer != nil); err != nil {
			return err
		}
	}
	s.result.nearest = hits
	near := make(map[source]bool, len(hits))
	var messages, records []int64 // found by their dense vectors alone
	for _, h := range hits {
		near[source{h.kind, h.id}] = true
		if s.found[source{h.kind, h.id}] == nil {
			messages, records = split(messages, records, source{h.kind, h.id})
			s.find(source{h.kind, h.id}, 0)
		}
	}
	if len(messages)+len(records) > 0 {
		batch := &pgx.Batch{}
		s.queueProducts(batch, messages, records, len(messages)+len(records))
		if err := s.tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
	}
	messages, records = nil, nil
	for of := range s.found {
		if !near[of] && !s.without.holds(of) {
			messages, records = split(messages, records, of)
		}
	}
	slices.Sort(messages)
	slices.Sort(records)
	others, err := denseCosines(ctx, s.tx, *s.dense, messages, records)
	if err != nil {
		return err
	}
	for _, h := range slices.Concat(hits, others) {
		if c := s.found[source{h.kind, h.id}]; c != nil {
			c.cosine = &h.cosine
		}
	}
	return nil
}
