package evaluation_test

import (
	"context"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// asker asks a database.
type asker struct{ *db.DB }

func (a asker) Ask(ctx context.Context, query string, thread chain.Hash, limit int) ([]chain.Hash, time.Duration, error) {
	start := time.Now()
	found, err := a.RequestContext(ctx, selection.Request{Query: query, Scope: selection.Scope{Threads: []chain.Hash{thread}}, Limit: limit})
	took := time.Since(start)
	hashes := make([]chain.Hash, len(found.Items))
	for i, item := range found.Items {
		hashes[i] = item.Hash
	}
	return hashes, took, err
}

// Select implements evaluation.Selector.
func (a asker) Select(ctx context.Context, query string, thread chain.Hash) (selected int, best float64, err error) {
	found, err := a.RequestContext(ctx, selection.Request{
		Query: query, Scope: selection.Scope{Threads: []chain.Hash{thread}},
		Limit: selection.DefaultLimit, Threshold: selection.DefaultThreshold,
	})
	for _, item := range found.Items {
		best = max(best, item.Score)
	}
	for _, item := range found.Dropped {
		best = max(best, item.Score)
	}
	return len(found.Items), best, err
}
