package db

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
)

//go:embed verify/strays.sql
var straysSQL string

//go:embed verify/sessionstrays.sql
var sessionStraysSQL string

//go:embed verify/missing.sql
var missingSQL string

// missing looks for leaves that no message belongs to.
func (v *verification) missing(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, missingSQL, v.session)
	if err != nil {
		return err
	}
	defer rows.Close()
	v.AddMissing(func() (m chain.MissingLeaf, more bool) {
		if err != nil || !rows.Next() {
			return m, false
		}
		var session, message *string
		err = rows.Scan(&session, &m.Sequence, &m.Leaf.Index, &message, &m.Last)
		if h := lenient(session); h != nil {
			m.Session = *h
		}
		if h := lenient(message); h != nil {
			m.Leaf.Message = *h
		}
		return m, err == nil
	})
	if err != nil {
		return err
	}
	return rows.Err()
}

// strays looks for refs that belong to no message. Of a log without breaks, counting them is enough: each row of
// refs that came with its message came once.
func (v *verification) strays(ctx context.Context, tx pgx.Tx) error {
	query, args := sessionStraysSQL, []any{v.session}
	if v.session == nil {
		query, args = straysSQL, nil
		count, err := dbgen.New(tx).CountRefs(ctx)
		if err != nil || v.Valid() && count == v.refs {
			return err
		}
	}
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	var message, session *string
	var position, sequence *int64
	var exists bool
	_, err = pgx.ForEachRow(rows, []any{&message, &position, &session, &sequence, &exists}, func() error {
		stray := chain.StrayRef{MessageHash: lenient(message), Session: lenient(session), Sequence: sequence, Exists: exists}
		if position != nil {
			stray.Position = int32(*position)
		}
		if sequence != nil {
			place := *sequence
			stray.Sequence = &place
		}
		v.AddStray(stray)
		return nil
	})
	return err
}

// lenient reads a hash from a row that nothing is known of.
func lenient(text *string) *chain.Hash {
	if text == nil {
		return nil
	}
	h, err := chain.ParseHash(*text)
	if err != nil {
		return nil
	}
	return &h
}
