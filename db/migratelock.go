package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pressly/goose/v3/lock"
)

// migrateLimit is how long a server waits for another that migrates, migratePause how long between looks.
const (
	migrateLimit = 5 * time.Minute
	migratePause = 200 * time.Millisecond
)

// migrateLock lets one server at a time migrate: by the lock that goose's own takes of a session, taken of a transaction
// that stays open meanwhile. A pooler gives sessions away, and their locks with them.
type migrateLock struct{ tx *sql.Tx }

// Lock waits for the lock. It asks again and again: to wait in a statement would hold up an index that is built
// concurrently by the one who has it.
func (l *migrateLock) Lock(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeoutCause(ctx, migrateLimit, fmt.Errorf("another server has migrated for more than %s", migrateLimit))
	defer cancel()
	for {
		locked, err := l.try(ctx, db)
		if err != nil || locked {
			return err
		}
		if wait(ctx, migratePause); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func (l *migrateLock) try(ctx context.Context, db *sql.DB) (locked bool, err error) {
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil) // it ends with its context, and outlives Lock
	if err != nil {
		return false, err
	}
	if _, err = tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err == nil {
		err = tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock($1::bigint)", lock.DefaultLockID).Scan(&locked)
	}
	if err != nil || !locked {
		_ = tx.Rollback()
		return false, err
	}
	l.tx = tx
	return true, nil
}

// Unlock gives it back.
func (l *migrateLock) Unlock(context.Context, *sql.DB) error { return l.tx.Rollback() }
