package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// Match is a message and what it was found by: its inner product with a query, or its cosine.
type Match struct {
	ID    int64
	Score float64
}

// ByWords gives the candidates of a request for context by whoever views by their inner products, the best of them, and the
// query's vector as pgvector's text: what a measurement holds against an exact scan.
func (d *DB) ByWords(ctx context.Context, request selection.Request, limit int) (vector string, hits []Match, err error) {
	if err := d.indexPending(ctx); err != nil {
		return "", nil, err
	}
	s := newSearch(searchInput{request: request, policy: ranking.Default(), viewer: d.viewer, indexed: true})
	err = d.snapshot(ctx, func(tx pgx.Tx) error {
		s.tx, s.view = tx, d
		return s.findByWords(ctx)
	})
	if err != nil {
		return "", nil, mapError(err)
	}
	for _, c := range s.ordered() {
		if c.kind == chain.RefContext && len(hits) < limit {
			hits = append(hits, Match{c.id, c.product})
		}
	}
	return s.vector.String(), hits, nil
}

// ByMeaning gives what is nearest to a query's dense vector, as a request for context without a scope finds it, and how
// long that took once the vector was there.
func (d *DB) ByMeaning(ctx context.Context, text string, limit int) (vector []float32, hits []Match, took time.Duration, err error) {
	query, notice := d.denseQuery(ctx, text)
	if query == nil {
		return nil, nil, 0, fault.New(fault.Unavailable, "the query has no dense vector: %s", notice)
	}
	var found []denseHit
	err = d.snapshot(ctx, func(tx pgx.Tx) error {
		began := time.Now()
		found, err = denseNearest(ctx, tx, *query, selection.Scope{Types: []chain.RefType{chain.RefContext}}, nil, nil, maxNearest, false)
		took = time.Since(began)
		return err
	})
	for _, h := range found[:min(len(found), limit)] {
		hits = append(hits, Match{h.id, h.cosine})
	}
	return query.vector, hits, took, mapError(err)
}
