package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lease is a connection that what a pool gives holds until it is done. Giving it back twice does nothing.
type lease struct{ conn *pgxpool.Conn }

// release gives the connection back, without what it was sent.
func (l *lease) release() {
	if l.conn == nil {
		return
	}
	forget(l.conn.Conn())
	l.conn.Release()
	l.conn = nil
}

// forget lets go of what a connection was sent, if nothing is under way on it. pgx keeps the parameters that it encoded last until it
// encodes others in their places: megabytes, where a large scope was searched, on each connection. NULLs take the places, and what
// cannot be encoded keeps them from being sent. Statements that are not valid any more are closed by that, too, which the next
// statement would do.
func forget(conn *pgx.Conn) {
	if conn.IsClosed() || conn.PgConn().IsBusy() || conn.PgConn().TxStatus() != 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cancelLimit)
	defer cancel()
	_, _ = conn.Exec(ctx, "", forgetting...)
}

// forgetting are arguments that fill all places that pgx keeps.
var forgetting = append([]any{pgx.QueryExecModeExec}, append(make([]any, 64), struct{}{})...)

type poolTx struct {
	pgx.Tx
	lease
}

// Commit commits. Whose context has ended is not told that it did: waiting for a standby may have been cancelled.
func (t *poolTx) Commit(ctx context.Context) error {
	defer t.release()
	if ctx.Err() != nil {
		_ = t.Rollback(ctx)
		return ctx.Err()
	}
	if err := t.Tx.Commit(ctx); err != nil {
		return err
	}
	return ctx.Err()
}

// Rollback undoes, also when the context has ended; after Commit it does nothing but to say so.
func (t *poolTx) Rollback(ctx context.Context) error {
	defer t.release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer cancel()
	return t.Tx.Rollback(ctx)
}

type poolRows struct {
	pgx.Rows
	lease
}

// Close ends reading.
func (r *poolRows) Close() {
	r.Rows.Close()
	r.release()
}

// Next goes to the next row; after the last it closes.
func (r *poolRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		r.release()
	}
	return more
}

// Scan reads the row; an error closes.
func (r *poolRows) Scan(to ...any) error {
	err := r.Rows.Scan(to...)
	if err != nil {
		r.Close()
	}
	return err
}

// Values gives the row; an error closes.
func (r *poolRows) Values() ([]any, error) {
	values, err := r.Rows.Values()
	if err != nil {
		r.Close()
	}
	return values, err
}

type poolRow struct {
	pgx.Row
	lease
}

// Scan reads the row.
func (r *poolRow) Scan(to ...any) error {
	defer r.release()
	return r.Row.Scan(to...)
}

type failedRow struct{ err error }

// Scan tells why there is no row.
func (r failedRow) Scan(...any) error { return r.err }

type poolBatch struct {
	pgx.BatchResults
	lease
}

// Close reads what is left.
func (b *poolBatch) Close() error {
	defer b.release()
	return b.BatchResults.Close()
}

type failedBatch struct{ err error }

// Exec tells why nothing was executed.
func (b failedBatch) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, b.err }

// Query tells why nothing was executed.
func (b failedBatch) Query() (pgx.Rows, error) { return nil, b.err }

// QueryRow tells why nothing was executed.
func (b failedBatch) QueryRow() pgx.Row { return failedRow(b) }

// Close tells why nothing was executed.
func (b failedBatch) Close() error { return b.err }

// Tx gives none.
func (b failedBatch) Tx() pgx.Tx { return nil }
