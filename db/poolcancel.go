package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// How a statement ends whose caller has gone.
const (
	cancelDelay = 50 * time.Millisecond // in which most end by themselves
	cancelLimit = time.Second           // for an answer: beyond, the connection is lost
)

// ending lets a connection outlast the caller of a statement, as callers come and go by the thousand and a connection is
// dear: the statement has a moment to end, then Postgres is asked to cancel it. Where neither is answered nobody is there
// any more, and the connection is closed: at once where a time limit is over, since that was all the patience there is.
type ending struct {
	conn   *pgconn.PgConn
	pooled bool // a pooler might cancel what somebody else asks by then
	by     ctxwatch.Handler
}

// HandleCancel is called when the caller has gone.
func (e *ending) HandleCancel(ctx context.Context) {
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		e.by = &pgconn.DeadlineContextWatcherHandler{Conn: e.conn.Conn()}
	case e.pooled:
		e.by = &pgconn.DeadlineContextWatcherHandler{Conn: e.conn.Conn(), DeadlineDelay: cancelLimit}
	default:
		e.by = &pgconn.CancelRequestContextWatcherHandler{Conn: e.conn, CancelRequestDelay: cancelDelay, DeadlineDelay: cancelLimit}
	}
	e.by.HandleCancel(ctx)
}

// HandleUnwatchAfterCancel is called when the statement has ended after that. It returns once no cancellation can meet another.
func (e *ending) HandleUnwatchAfterCancel() { e.by.HandleUnwatchAfterCancel() }
