package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
)

// As gives the store as a player sees it: the sessions that they are a member of, and nothing that tells of others. Every
// statement of a view says so itself; where the database has the roles for it, row-level security stands behind.
func (d *DB) As(player chain.Hash) *DB {
	return &DB{shared: d.shared, viewer: &player}
}

// Fenced tells whether row-level security stands behind what players read. Where the login may not make roles,
// or not take on the players' role, it does not.
func (d *DB) Fenced() bool { return d.fenced }

// viewerText gives the viewer as queries take it: nil sees all.
func (d *DB) viewerText() *string {
	return hashText(d.viewer)
}

// read are the queries of a caller. What they read counts in the budget of an answer.
func (d *DB) read() *dbgen.Queries { return dbgen.New(d.readerAs(becomeSQL)) }

// readByKey are the same for queries that hashes lead to their rows, whatever else they say: their plans are made once,
// since planning behind a fence takes longer than such a query does.
func (d *DB) readByKey() *dbgen.Queries { return dbgen.New(d.keyReader()) }

func (d *DB) keyReader() dbgen.DBTX {
	if d.viewer == nil || !d.fenced || d.players == nil {
		return d.readerAs(becomePlannedSQL)
	}
	return metered{named{d.players, *d.viewer}}
}

// readerAs is for statements that are not among the queries, too.
func (d *DB) readerAs(become string) dbgen.DBTX {
	if d.viewer == nil || !d.fenced {
		return metered{d.reads}
	}
	return metered{fence{d.reads, *d.viewer, become}}
}

const (
	// fencedSQL asks whether the login may read as players do, behind policies.
	fencedSQL = "SELECT (SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = 'log.messages'::REGCLASS) AND " + mayBecomeSQL
	// becomeSQL makes a transaction a player's. Settings end with it, so that a pooler may stand between.
	becomeSQL = "SELECT set_config('role', 'cm_player', TRUE), set_config('context_manager.player', $1, TRUE)"
	// becomePlannedSQL is the same, with plans that are made for no values in particular.
	becomePlannedSQL = "SELECT set_config('role', 'cm_player', TRUE), set_config('context_manager.player', $1, TRUE), set_config('plan_cache_mode', 'force_generic_plan', TRUE)"
	// becomeForGoodSQL makes a session the players'.
	becomeForGoodSQL = "SET role = 'cm_player'"
	// asPlayer stands before whatever a player's transaction executes: the same text would be the same prepared statement as
	// another role's, which is planned anew whenever the role has changed.
	asPlayer = "-- as a player\n"
	// resumeSQL and resumePlannedSQL end that, with plans for the values at hand or for none.
	resumeSQL        = "SELECT set_config('role', 'none', TRUE), set_config('plan_cache_mode', 'force_custom_plan', TRUE)"
	resumePlannedSQL = "SELECT set_config('role', 'none', TRUE), set_config('plan_cache_mode', 'force_generic_plan', TRUE)"
)

// fence reads as the viewer: each statement in a transaction of its own, in one round trip. Statements that are sent
// together are one transaction by themselves.
type fence struct {
	pool   *pool
	viewer chain.Hash
	become string // a statement that takes the viewer
}

// Exec is for statements without rows, of which a reader has none.
func (f fence) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return execByQuery(ctx, f, sql, args)
}

func execByQuery(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, sql string, args []any) (pgconn.CommandTag, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// Query gives rows that must be closed.
func (f fence) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	batch := &pgx.Batch{}
	batch.Queue(f.become, f.viewer.String())
	batch.Queue(asPlayer+sql, args...)
	results := f.pool.SendBatch(ctx, batch)
	_, err := results.Exec()
	if err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			return &fencedRows{Rows: rows, results: results}, nil
		}
	}
	_ = results.Close()
	return nil, err
}

// QueryRow gives a row that must be scanned.
func (f fence) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := f.Query(ctx, sql, args...)
	return fencedRow{rows, err}
}

// fencedRows give their connection back when they are closed.
type fencedRows struct {
	pgx.Rows
	results pgx.BatchResults
	done    func() // called if the transaction has been committed; nil: nothing is
	ended   bool
	err     error
}

// Close ends the transaction. Closing again does nothing.
func (r *fencedRows) Close() {
	r.Rows.Close()
	if !r.ended {
		r.ended, r.err = true, r.results.Close()
		if r.err == nil && r.done != nil {
			r.done()
		}
	}
}

// Err gives what went wrong while reading, or while ending the transaction.
func (r *fencedRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// Next closes the rows behind the last.
func (r *fencedRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

type fencedRow struct {
	rows pgx.Rows
	err  error
}

// Scan reads the row, and gives pgx.ErrNoRows if there is none.
func (r fencedRow) Scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(into...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
