package db

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/internal/fault"
)

// How a pool gives connections, and comes back once the database does.
const (
	acquireLimit  = time.Second            // for a connection: beyond, it is UNAVAILABLE; a start has startPatience
	acquireLate   = 500 * time.Millisecond // for one in an operation that has lasted longer than that
	acquireGlance = 10 * time.Millisecond  // for one where another was waited for in vain
	pingLimit     = 500 * time.Millisecond // for a connection to show that it lives
	restless      = time.Second            // without use, after which it has to
	probeLimit    = 3 * time.Second        // for a new connection, while the database is looked for; of several hosts
	probePause    = 200 * time.Millisecond // between looks
	replaceGrace  = time.Second            // for what is under way when the database was found again
)

// errNoConnection says that every connection was in use for as long as one may wait.
var errNoConnection = fault.New(fault.Unavailable, "no connection to the database could be had in time; nothing was done, try again")

// pool hands out connections to one database, wherever that is by now: a connection is lost with the server, or the
// network, that it leads to, and then so are the others, as a rule. So after a loss each is tried before it is handed
// out, and once the database was out of reach they are all replaced: some of them may hang, and nobody can tell
// which. It is safe for concurrent use.
type pool struct {
	config  *pgxpool.Config
	current atomic.Pointer[pgxpool.Pool]
	lost    atomic.Int64 // when a connection was lost last: nanoseconds since made
	made    time.Time
	probing atomic.Bool

	mu     sync.Mutex
	era    context.Context // ends when all connections are replaced
	endEra context.CancelFunc
	closed bool
	wait   sync.WaitGroup // for probes, and for what was replaced
	ctx    context.Context
	end    context.CancelFunc
}

// newPool makes a pool, which connects when somebody needs it.
func newPool(ctx context.Context, config *pgxpool.Config) (*pool, error) {
	p := &pool{config: config.Copy(), made: time.Now()}
	p.ctx, p.end = context.WithCancel(context.WithoutCancel(ctx))
	p.era, p.endEra = context.WithCancel(p.ctx)
	p.config.PingTimeout = pingLimit
	p.config.ShouldPing = func(_ context.Context, c pgxpool.ShouldPingParams) bool {
		return c.IdleDuration > restless || time.Since(p.made)-c.IdleDuration <= time.Duration(p.lost.Load())
	}
	closing := p.config.BeforeClose
	p.config.BeforeClose = func(conn *pgx.Conn) {
		if conn.IsClosed() { // not by the pool
			p.lose()
		}
		if closing != nil {
			closing(conn)
		}
	}
	first, err := pgxpool.NewWithConfig(ctx, p.config)
	if err != nil {
		p.end()
		return nil, err
	}
	p.current.Store(first)
	return p, nil
}

// lose notes that a connection was lost, or could not be made, and looks for the database.
func (p *pool) lose() {
	p.lost.Store(int64(time.Since(p.made)))
	p.look()
}

// look looks for the database.
func (p *pool) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.probing.CompareAndSwap(false, true) {
		p.wait.Go(p.probe)
	}
}

// probe looks for the database until it is there, and nothing was lost meanwhile. If it was not at once, all connections are
// of the time before.
func (p *pool) probe() {
	for away := false; p.ctx.Err() == nil; wait(p.ctx, probePause) {
		before := p.lost.Load()
		if !p.reachable() {
			away = true
			continue
		}
		if away {
			p.replace()
			away = false
		}
		p.probing.Store(false)
		if p.lost.Load() == before || !p.probing.CompareAndSwap(false, true) {
			return
		}
	}
	p.probing.Store(false)
}

// reachable tells whether the database answers a new connection, if only to refuse it for want of room.
func (p *pool) reachable() bool {
	ctx, cancel := context.WithTimeout(p.ctx, probeLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, p.config.ConnConfig.Copy())
	if err != nil {
		pg, ok := errors.AsType[*pgconn.PgError](err)
		return ok && !goneServer(pg.Code)
	}
	err = conn.Ping(ctx)
	_ = conn.Close(ctx)
	return err == nil
}

// replace begins anew. Who has a connection keeps it.
func (p *pool) replace() {
	fresh, err := pgxpool.NewWithConfig(p.ctx, p.config)
	if err != nil {
		return
	}
	if !p.swap(fresh) {
		fresh.Close() // not while the lock is held, which closing a lost connection takes
	}
}

// swap puts a pool into the place of the one that is used, unless that is closed.
func (p *pool) swap(fresh *pgxpool.Pool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	old := p.current.Swap(fresh)
	p.wait.Go(old.Close)
	p.endEra()
	p.era, p.endEra = context.WithCancel(p.ctx)
	return true
}

// untilReplaced gives a context for work on a connection, which ends some time after the database was found again that
// was out of reach: what has not been answered by then never will be.
func (p *pool) untilReplaced(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	era := p.era
	p.mu.Unlock()
	stop := context.AfterFunc(era, func() {
		defer cancel()
		wait(ctx, replaceGrace)
	})
	return ctx, func() { stop(); cancel() }
}

// Close closes all connections, once they are given back.
func (p *pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.end()
	p.mu.Unlock()
	p.current.Load().Close()
	p.wait.Wait()
}

// patience is how long one operation may wait for connections.
type patience struct {
	until time.Time
	over  atomic.Bool // it had none once
}

type patienceKey struct{}

// WithPatience lets everything that is done in the context wait for connections as one: for a second from now, and hardly any
// longer once that has passed, or was in vain.
func WithPatience(ctx context.Context) context.Context { return withPatience(ctx, acquireLimit) }

// WithStartPatience is WithPatience for what a start does, which may wait longer than a request may.
func WithStartPatience(ctx context.Context) context.Context { return withPatience(ctx, startPatience) }

func withPatience(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, &patience{until: time.Now().Add(limit)})
}

func (p *patience) limit() time.Duration {
	switch {
	case p == nil:
		return acquireLimit
	case p.over.Load():
		return acquireGlance
	}
	return max(time.Until(p.until), acquireLate)
}

// Acquire gives a connection, which has to be released, within acquireLimit, or as long as the context's patience lasts.
func (p *pool) Acquire(ctx context.Context) (*pgxpool.Conn, error) {
	of, _ := ctx.Value(patienceKey{}).(*patience)
	waiting, cancel := context.WithTimeout(ctx, of.limit())
	defer cancel()
	used := p.current.Load()
	conn, err := used.Acquire(waiting)
	for err != nil && waiting.Err() == nil && p.current.Load() != used { // it was replaced meanwhile
		used = p.current.Load()
		conn, err = used.Acquire(waiting)
	}
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case waiting.Err() != nil: // the connections are in use, or the database does not answer new ones
		if of != nil {
			of.over.Store(true)
		}
		p.look()
		return nil, errNoConnection
	}
	p.lose()
	return nil, err
}

// Ping tells whether the database answers.
func (p *pool) Ping(ctx context.Context) error {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return conn.Ping(ctx)
}

// Begin begins a transaction on a connection that it holds until it ends.
func (p *pool) Begin(ctx context.Context) (pgx.Tx, error) { return p.BeginTx(ctx, pgx.TxOptions{}) }

// BeginTx is Begin with options. Without any, what is committed is on disk.
func (p *pool) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	if options == (pgx.TxOptions{}) {
		options.BeginQuery = beginSQL
	}
	conn, err := p.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, options)
	if err != nil {
		conn.Release()
		return nil, err
	}
	return &poolTx{tx, lease{conn}}, nil
}

// Exec executes a statement.
func (p *pool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	l := lease{conn}
	defer l.release()
	return conn.Exec(ctx, sql, args...)
}

// Query executes a statement whose rows have to be closed.
func (p *pool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		conn.Release()
		return nil, err
	}
	return &poolRows{rows, lease{conn}}, nil
}

// QueryRow executes a statement that gives one row, which has to be scanned.
func (p *pool) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return failedRow{err}
	}
	return &poolRow{conn.QueryRow(ctx, sql, args...), lease{conn}}
}

// SendBatch executes statements together. What it gives has to be closed.
func (p *pool) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return failedBatch{err: err}
	}
	return &poolBatch{conn.SendBatch(ctx, batch), lease{conn}}
}
