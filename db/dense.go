package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// denseQuery is a query's vector under the model that serves.
type denseQuery struct {
	model  int32 // id of the model
	name   string
	vector []float32 // of length 1
}

// denseHit is how near a message (kind RefContext) or a record is to a query.
type denseHit struct {
	kind   chain.RefType
	id     int64
	cosine float64
}

// denseNearest gives what is nearest to the query, nearest first, of what the scope holds at that state of the log. ids,
// if it is not nil, are the messages that the scope holds.
func denseNearest(ctx context.Context, tx pgx.Tx, query denseQuery, scope selection.Scope, ids []int64, at *asOf, limit int) ([]denseHit, error) {
	return nil, nil
}

// denseCosines gives the cosines of these messages and records with the query, of those that have vectors.
func denseCosines(ctx context.Context, tx pgx.Tx, query denseQuery, messages, records []int64) ([]denseHit, error) {
	return nil, nil
}
