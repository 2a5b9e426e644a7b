package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/internal/chain"
)

// named reads as the viewer, each statement in a transaction of its own, over connections that are the players' role for good.
// Such a connection stays in the name that it read in last: who reads in that name again needs one statement, not two.
type named struct {
	pool   *pool
	viewer chain.Hash
}

// nameSQL says in whose name a session reads from now on.
const nameSQL = "SELECT set_config('context_manager.player', $1, FALSE)"

// nameKey is where the name of a connection's session is kept with it. None: it is in nobody's name, or it is not known in whose.
const nameKey = "context_manager.player"

// Exec is for statements without rows, of which a reader has none.
func (n named) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return execByQuery(ctx, n, sql, args)
}

// QueryRow gives a row that must be scanned.
func (n named) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := n.Query(ctx, sql, args...)
	return fencedRow{rows, err}
}

// Query gives rows that must be closed.
func (n named) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	conn, err := n.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	var rows pgx.Rows
	if name, ok := conn.Conn().PgConn().CustomData()[nameKey].(chain.Hash); ok && name == n.viewer {
		rows, err = conn.Query(ctx, sql, args...)
	} else {
		rows, err = n.rename(ctx, conn, sql, args)
	}
	if err != nil {
		conn.Release()
		return nil, err
	}
	return &poolRows{rows, lease{conn}}, nil
}

// rename is Query on a connection in another name. The new one is that of the session once both statements are committed.
func (n named) rename(ctx context.Context, conn *pgxpool.Conn, sql string, args []any) (pgx.Rows, error) {
	known := conn.Conn().PgConn().CustomData()
	delete(known, nameKey)
	batch := &pgx.Batch{}
	batch.Queue(nameSQL, n.viewer.String())
	batch.Queue(sql, args...)
	results := conn.SendBatch(ctx, batch)
	_, err := results.Exec()
	if err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			return &fencedRows{Rows: rows, results: results, done: func() { known[nameKey] = n.viewer }}, nil
		}
	}
	_ = results.Close()
	return nil, err
}
