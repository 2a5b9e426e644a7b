package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
)

// sequencerLock is the lock of the one sequencer of a database, as one server tries for it and has it. That two have it
// at once for a moment does no harm: a leaf, a tile and a tree have their keys, so that one of the two fails, and only
// what is committed is signed. It saves them the trouble.
type sequencerLock interface {
	// try takes the lock, if nobody has it.
	try(ctx context.Context) (locked bool, err error)
	// held gives an error if the lock is gone.
	held(ctx context.Context) error
	// close gives it back.
	close(ctx context.Context)
}

// sessionLock is a lock of the session that everything is written in: who lost it writes nothing.
type sessionLock struct{ q *dbgen.Queries }

func (l sessionLock) try(ctx context.Context) (bool, error) { return l.q.TrySealLock(ctx, sealLock) }

func (l sessionLock) held(context.Context) error { return nil }

func (l sessionLock) close(context.Context) {}

// transactionLock is the lock behind a pooler, which gives sessions away: that of a transaction which stays open, and
// does nothing else, on a connection of its own.
type transactionLock struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn
	tx     pgx.Tx // nil while the lock is not ours
}

func (l *transactionLock) try(ctx context.Context) (locked bool, err error) {
	if l.conn == nil {
		if l.conn, err = pgx.ConnectConfig(ctx, l.config); err != nil {
			return false, err
		}
	}
	tx, err := l.conn.Begin(ctx)
	if err != nil {
		return false, err
	}
	if _, err = tx.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err == nil {
		err = tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1::bigint)", int64(sealLock)).Scan(&locked)
	}
	if err != nil || !locked {
		_ = tx.Rollback(ctx)
		return false, err
	}
	l.tx = tx
	return true, nil
}

func (l *transactionLock) held(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	_, err := l.tx.Exec(ctx, "SELECT")
	return err
}

func (l *transactionLock) close(ctx context.Context) {
	if l.conn != nil {
		_ = l.conn.Close(ctx)
	}
}
