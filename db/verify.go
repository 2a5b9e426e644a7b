package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
)

// progressInterval is how often a check tells how far it is.
const progressInterval = 300 * time.Millisecond

// maxChecks is how many checks run at once. Each holds a connection and keeps a processor busy; others wait.
const maxChecks = 2

// VerifySession checks one session's chain as it stands at one moment, whoever goes on writing. A session without
// messages is valid and empty. progress, if not nil, is called from the caller's goroutine: at least twice a second
// as long as it returns at once, and at the end. The memory that is used does not grow with the session. When ctx
// ends, so does the check, with UNAVAILABLE. At most two checks run at once, on one DB; it waits for its turn.
func (d *DB) VerifySession(ctx context.Context, session chain.Hash, progress func(chain.Progress)) (chain.SessionReport, error) {
	v, err := d.verify(ctx, &session, progress)
	if err != nil {
		return chain.SessionReport{}, err
	}
	return chain.SessionReport{
		Session: session, Valid: v.Valid(), Length: v.Messages(), Head: v.Head(), Breaks: v.Breaks(),
	}, nil
}

// VerifyLog checks every session's chain, and that there are no refs but those of messages. For the rest it is as
// VerifySession.
func (d *DB) VerifyLog(ctx context.Context, progress func(chain.Progress)) (chain.LogReport, error) {
	started := time.Now()
	v, err := d.verify(ctx, nil, progress)
	if err != nil {
		return chain.LogReport{}, err
	}
	return chain.LogReport{
		Valid: v.Valid(), Sessions: v.Sessions(), Messages: v.Messages(), Erased: v.Erased(), Breaks: v.Breaks(), Took: time.Since(started),
	}, nil
}

// verification is one check under way.
type verification struct {
	*chain.Verifier
	session  *string // nil: all
	total    int64
	refs     int64 // rows of refs that came with their messages
	progress func(chain.Progress)
}

func (d *DB) verify(ctx context.Context, session *chain.Hash, progress func(chain.Progress)) (*chain.Verifier, error) {
	select {
	case d.checks <- struct{}{}:
		defer func() { <-d.checks }()
	case <-ctx.Done():
		return nil, mapError(ctx.Err())
	}
	v := &verification{Verifier: chain.NewVerifier(), progress: progress}
	if session != nil {
		text := session.String()
		v.session = &text
	}
	if progress == nil {
		v.progress = func(chain.Progress) {}
	}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, d.pool, snapshot, func(tx pgx.Tx) error { return v.run(ctx, tx) })
	if err != nil {
		return nil, mapError(err)
	}
	v.tell(true)
	return v.Verifier, nil
}

func (v *verification) run(ctx context.Context, tx pgx.Tx) error {
	// In the index's order rows come from the first on, without a sort of the whole log on disk.
	if _, err := tx.Exec(ctx, "SET LOCAL enable_sort = off"); err != nil {
		return err
	}
	var err error
	if v.total, err = dbgen.New(tx).CountMessages(ctx, v.session); err != nil {
		return err
	}
	if err := v.messages(ctx, tx); err != nil {
		return err
	}
	v.End()
	if err := v.returned(ctx, tx); err != nil {
		return err
	}
	return v.strays(ctx, tx)
}

// messages checks what a second goroutine reads, and tells how far it is even while nothing comes.
func (v *verification) messages(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newStream(tx, v.session)
	go s.run(ctx)
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case b, more := <-s.full:
			if !more {
				return s.err
			}
			for i := range b.rows {
				v.refs += int64(len(b.rows[i].entry.Refs))
				v.Add(&b.rows[i].entry)
			}
			s.empty <- b
		case <-ticker.C:
			v.tell(false)
		}
	}
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

func (v *verification) tell(done bool) {
	v.progress(chain.Progress{Checked: v.Messages(), Total: v.total, Breaks: v.Breaks(), Done: done})
}
