// Package db keeps everything in Postgres: one store file a domain, over a shared pool. Exported methods own
// their transaction; unexported helpers take one. Errors come out as faults (see package fault), and nothing
// that Postgres says reaches a client as it is.
//
// It never knows GraphQL or HTTP.
package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/time/rate"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// DB is the store, as somebody sees it: all of it, or by As what a player may see. It is safe for concurrent use; Close
// the one that Open gave when done.
type DB struct {
	*shared
	viewer *chain.Hash // nil sees all
	office *office     // of an administrator, whose doings are recorded; nil: nothing is
}

// shared is what all views of a store have in common.
type shared struct {
	address      *address
	direct       *address // for what needs a session; nil: there is none
	pool         *pool    // for the server's own work, and for writing
	reads        *pool    // for what callers read
	players      *pool    // for what players read by keys, over which only named reads: behind row-level security; nil: there is none
	fenced       bool     // row-level security stands behind what players read
	index        *indexer
	writer       *writer
	feed         *feed
	checks       turns
	sealer       atomic.Pointer[Sealer]
	trust        trust // in rows of the seal
	dense        atomic.Pointer[denseEmbedder]
	log          *slog.Logger
	most         scopeLimits                      // of searches
	readings     *readings                        // what is on record already
	sights       *lru.Cache[chain.Hash, sight]    // what viewers saw last
	listings     *lru.Cache[string, listing]      // what scopes held when they were searched last
	crowded      *lru.Cache[chain.Hash, struct{}] // keys of listings that were not few when they were read as such
	besideFailed rate.Sometimes                   // to tell of it
	samples      *samples                         // of the whole log
	kept         *overviews
	outlines     *outlines // of what was looked at by position
	windows      *windows
	questions    *embeddings.Queries // remembers words of queries
	lexical      lexicalToolbox      // remembers words of texts

	conversationTTL time.Duration
	sweeper         sweeper

	clock clock

	undisturbed sync.Mutex // see withoutErasures

	// Clock is a clock in the hands of a test, in the place of the database's. Nil: there is none.
	Clock func() time.Time
}

// Option changes how Open connects.
type Option func(*pgxpool.Config)

// WithTracer lets a tracer see every statement.
func WithTracer(t pgx.QueryTracer) Option {
	return func(c *pgxpool.Config) { c.ConnConfig.Tracer = t }
}

// Open connects to a database that Migrate has brought up to date, and starts the writer that gathers appends.
// maxConns is the size of each of three pools: one for callers' reads, one for those of players by keys, where there is a
// fence, and one for the rest; 0 leaves it to pgx (four, or one a core). The writer has two more of its own.
func Open(ctx context.Context, url string, maxConns int32, log *slog.Logger, options ...Option) (*DB, error) {
	return OpenAs(ctx, url, url, maxConns, log, options...)
}

// OpenAs is Open with an address of its own for callers' reads, whose login may read and no more.
func OpenAs(ctx context.Context, url, readURL string, maxConns int32, log *slog.Logger, options ...Option) (d *DB, err error) {
	until := time.Now().Add(startPatience)
	err = patiently(ctx, func() error {
		// A pool given up takes with it the connection that was about to be made.
		d, err = openAs(withPatience(ctx, max(time.Until(until), acquireLimit)), url, readURL, maxConns, log, options...)
		return err
	})
	return d, err
}

func openAs(ctx context.Context, url, readURL string, maxConns int32, log *slog.Logger, options ...Option) (*DB, error) {
	// What the server does itself leads by keys to few rows, or calls a function: a plan made once serves.
	address, pool, err := connect(ctx, url, maxConns, "auto", options)
	if err != nil {
		return nil, err
	}
	// What callers ask has optional filters, with which a generic plan took 60 times as long as one for the values at hand.
	from, reads, err := connect(ctx, readURL, maxConns, "force_custom_plan", options)
	if err != nil {
		pool.Close()
		return nil, err
	}
	sights, _ := lru.New[chain.Hash, sight](maxSights) // fails for no size only
	listings, _ := lru.New[string, listing](maxListings)
	crowded, _ := lru.New[chain.Hash, struct{}](maxCrowded)
	d := &DB{shared: &shared{
		address: address, pool: pool, reads: reads, log: log, readings: newReadings(), sights: sights, listings: listings, crowded: crowded, samples: newSamples(), kept: newOverviews(), outlines: newOutlines(),
		conversationTTL: memory.DefaultTTL, besideFailed: rate.Sometimes{Interval: time.Minute}, windows: newWindows(), questions: embeddings.NewQueries(),
	}}
	err = d.clock.ask(ctx, pool)
	if err == nil {
		err = reads.QueryRow(ctx, fencedSQL).Scan(&d.fenced)
	}
	if err == nil && d.fenced && !from.pooled {
		d.players, err = from.playersPool(ctx)
	}
	if err != nil {
		d.closePools()
		return nil, mapError(err)
	}
	d.index = startIndexer(d)
	if !address.pooled {
		d.direct = address
	}
	if d.writer, err = startWriter(ctx, address, d.index); err != nil {
		d.index.stop()
		d.closePools()
		return nil, fault.Wrap(err, fault.Unavailable, "the database cannot be reached")
	}
	d.feed = newFeed(d)
	return d, nil
}

// connect makes a pool whose statements are planned as plans says: a value of plan_cache_mode.
func connect(ctx context.Context, url string, maxConns int32, plans string, options []Option) (*address, *pool, error) {
	address, err := readAddress(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	if maxConns > 0 {
		address.config.MaxConns = maxConns
	}
	for _, option := range options {
		option(address.config)
	}
	pool, err := newPool(ctx, address.planned(plans))
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Unavailable, "the database cannot be reached")
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, nil, fault.Wrap(err, fault.Unavailable, "the database cannot be reached")
	}
	return address, pool, nil
}

// planned gives how to connect where statements are planned as plans says.
func (a *address) planned(plans string) *pgxpool.Config {
	config := a.with(map[string]string{"plan_cache_mode": plans})
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &ending{conn: conn, pooled: a.pooled}
	}
	return config
}

var errPoolerSince = fault.New(fault.Unavailable,
	"a pooler such as PgBouncer has taken Postgres' place since this server was started: start the server anew")

// playersPool makes a pool whose sessions are the players' role from the start, and make plans once: to take the role on in
// each transaction takes as long as a read by a key does.
func (a *address) playersPool(ctx context.Context) (*pool, error) {
	config := a.planned("force_generic_plan")
	before := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		err := before(ctx, conn) // types that the role need not see
		if err != nil {
			return err
		}
		var pid uint32
		if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		if pid != conn.PgConn().PID() {
			return errPoolerSince // the role, and whose name it reads in, would be some other session's
		}
		_, err = conn.Exec(ctx, becomeForGoodSQL)
		return err
	}
	return newPool(ctx, config)
}

// Close ends subscriptions, lets appends that are under way finish, stops the sealer and the embedder, then closes all
// connections.
func (d *DB) Close() {
	d.sweeper.stop()
	d.feed.stop()
	d.writer.stop()
	if sealer := d.Sealer(); sealer != nil {
		sealer.Stop()
	}
	if dense := d.dense.Load(); dense != nil {
		dense.stop()
	}
	d.index.stop()
	d.closePools()
}

func (d *DB) closePools() {
	if d.players != nil {
		d.players.Close()
	}
	d.reads.Close()
	d.pool.Close()
}

// Ping tells whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	return mapError(d.pool.Ping(ctx))
}

// Pool gives the pool of the server's own work, for statistics.
// It is another one once the database was out of reach.
func (d *DB) Pool() *pgxpool.Pool { return d.pool.current.Load() }

// UseDirect names an address of the same database that leads there without a pooler, for what needs a session of its
// own: to hear at once what other servers write, and to seal. Without, that works by looking again and again. It must
// be called before the store is used.
//
// Faults: UNAVAILABLE, also if there is a pooler after all.
func (d *DB) UseDirect(ctx context.Context, url string) error {
	direct, err := readAddress(ctx, url)
	if err != nil {
		return err
	}
	if direct.pooled {
		return fault.New(fault.Unavailable, "DATABASE_DIRECT_URL leads to a pooler: it has to lead to Postgres itself")
	}
	d.direct = direct
	return nil
}

// sessionConfig gives how to connect for long. Behind a pooler without a way around it, what is told to the session, and
// its locks, may come to nothing: then lasting is false.
func (d *DB) sessionConfig(settings map[string]string) (config *pgx.ConnConfig, lasting bool) {
	if d.direct == nil {
		return d.address.with(nil).ConnConfig, false
	}
	return d.direct.with(settings).ConnConfig, true
}

// queries are the server's own.
func (d *DB) queries() *dbgen.Queries { return dbgen.New(d.pool) }

// inTx runs f in a transaction that commits if f gives no error.
func (d *DB) inTx(ctx context.Context, f func(tx pgx.Tx, q *dbgen.Queries) error) error {
	return mapError(pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		return f(tx, dbgen.New(tx))
	}))
}

// Codes of the log's own triggers: see migrations/00001_log.sql and 00009_erase.sql.
const (
	codeNotHead    = "CM001"
	codeWrongValue = "CM002"
	codeTooEarly   = "CM003"
	codeImmutable  = "CM004"
	codeRefs       = "CM005"
	codeAbsent     = "CM006"
	codeErased     = "CM007" // before, or it cannot be
	codeMeanwhile  = "CM008" // erased while it was being used
	codeQuarantine = "CM009" // quarantined while it was being selected
)

// mapError gives an error of the database as a fault. A fault stays as it is.
func mapError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok { // whatever Postgres said then
		return fault.Wrap(err, fault.Unavailable, "the database cannot be reached")
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return mapPostgres(pg)
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Unavailable, "the request was ended before the database answered")
	case isLost(err):
		return fault.Wrap(err, fault.Unavailable, "the database cannot be reached")
	}
	return fault.Wrap(err, fault.Internal, "internal error")
}

func mapPostgres(pg *pgconn.PgError) error {
	switch pg.Code {
	case codeNotHead:
		return fault.Wrap(pg, fault.Conflict, "%s", pg.Message)
	case codeWrongValue, codeTooEarly, codeRefs:
		return fault.Wrap(pg, fault.BadUserInput, "%s", pg.Message)
	case codeAbsent:
		return fault.Wrap(pg, fault.NotFound, "%s", pg.Message)
	case codeErased:
		return fault.Wrap(pg, fault.Conflict, "%s", pg.Message)
	case codeMeanwhile, codeQuarantine:
		return fault.Wrap(pg, fault.Unavailable, "too much at once; try again")
	case codeImmutable:
		return fault.Wrap(pg, fault.Forbidden, "%s", pg.Message)
	case codeCheck:
		if column := checkedColumn(pg); column != "" {
			return &fault.Error{Code: fault.BadUserInput, Field: column, Message: "is outside of what the database holds", Cause: pg}
		}
	case "22P05", "22021": // a character that text cannot hold
		return fault.Wrap(pg, fault.BadUserInput, "holds a character that the log cannot store")
	case "22P02", "22003", "22007", "22008", "54000", "54001": // a value out of the type's range
		return fault.Wrap(pg, fault.BadUserInput, "holds a value that the log cannot store")
	}
	switch pg.Code {
	case "57014": // cancelled, as a rule because the caller has gone
		return fault.Wrap(errors.Join(context.Canceled, pg), fault.Unavailable, "the request was ended before the database answered")
	case "25006", "25P03", "25P04": // a standby, or a transaction that took too long
		return fault.Wrap(pg, fault.Unavailable, "the database cannot serve now")
	case "26000", "42P05": // behind a pooler, a statement that another session prepared
		return fault.Wrap(pg, fault.Unavailable, "the database cannot serve now; try again")
	}
	switch pg.Code[:2] {
	case "08", "53", "57", "58": // connection, resources, operator, system
		return fault.Wrap(pg, fault.Unavailable, "the database cannot serve now")
	case "40", "55": // serialisation, lock
		return fault.Wrap(pg, fault.Unavailable, "too much at once; try again")
	}
	return fault.Wrap(fmt.Errorf("%s: %w", pg.ConstraintName, pg), fault.Internal, "internal error")
}

// codeCheck is a row that breaks a CHECK.
const codeCheck = "23514"

// checkedColumn names what a CHECK of the tables that requests write is about: the column, or the domain's rule. It is
// empty for other tables, where a broken CHECK is a defect. Postgres names constraints so: table, column, check.
func checkedColumn(pg *pgconn.PgError) string {
	switch pg.SchemaName {
	case "log", "core", "knowledge":
		name := strings.TrimSuffix(strings.TrimPrefix(pg.ConstraintName, pg.TableName+"_"), "_check")
		if pg.TableName == "" {
			name = strings.ReplaceAll(name, "_", " ")
		}
		return name
	}
	return ""
}
