package db

import (
	"context"

	"github.com/tzzr/context-manager/internal/chain"
)

// SessionRange gives up to limit messages of a session whose sequence is higher than after, in its order.
func (d *DB) SessionRange(ctx context.Context, session chain.Hash, after int64, limit int) ([]chain.Message, error) {
	rows, err := d.SessionMessages(ctx, session, Page[int64]{After: &after, Limit: limit})
	if err != nil {
		return nil, err
	}
	messages := make([]chain.Message, len(rows.Items))
	for i, item := range rows.Items {
		messages[i] = item.Value
	}
	return messages, nil
}
