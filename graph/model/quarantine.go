package model

import (
	"context"

	"github.com/tzzr/context-manager/db"
)

// Quarantine says that a message was taken out of selections.
type Quarantine struct{ db.Quarantine }

// QuarantineConnection is a page of quarantines.
type QuarantineConnection struct {
	Edges    []QuarantineEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c QuarantineConnection) TotalCount(ctx context.Context) (int64, error) { return c.Count(ctx) }

// SelectionHolder is a selection that holds a message or a record.
type SelectionHolder struct{ db.Holder }

// SelectionHolderConnection is a page of selections.
type SelectionHolderConnection struct {
	Edges    []SelectionHolderEdge
	PageInfo PageInfo
	Count    Count
}

// TotalCount counts the whole set.
func (c SelectionHolderConnection) TotalCount(ctx context.Context) (int64, error) {
	return c.Count(ctx)
}
