package db

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"
)

//go:embed verify/returned.sql
var returnedSQL string

// returned looks for content that came back after its erasure. There are few ERASURE messages, and an index of them.
func (v *verification) returned(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, returnedSQL, v.session)
	if err != nil {
		return err
	}
	var session, hash *string
	var sequence, by int64
	_, err = pgx.ForEachRow(rows, []any{&session, &sequence, &hash, &by}, func() error {
		inSession, message := lenient(session), lenient(hash)
		if inSession != nil && message != nil { // or else the check of the message names it
			v.AddReturned(*inSession, sequence, *message, by)
		}
		return nil
	})
	return err
}
