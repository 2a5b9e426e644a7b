package bench

import (
	"context"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Recorder notes the statements that go through a connection, as a tracer of pgx. The zero value is ready. Safe for
// concurrent use.
type Recorder struct {
	mu         sync.Mutex
	statements []statement
}

type statement struct {
	sql  string
	args []any
}

// TraceQueryStart notes a statement.
func (r *Recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements = append(r.statements, statement{data.SQL, data.Args})
	return ctx
}

// TraceQueryEnd does nothing.
func (r *Recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// readsHashes tells whether a statement reads hashes of the tree, or leaves that it hashes: not where a message's leaf is,
// nor checkpoints.
func (s statement) readsHashes() bool {
	return strings.Contains(s.sql, "seal.tiles") || strings.Contains(s.sql, "LeavesInRanges")
}

// take gives what was noted since the last time.
func (r *Recorder) take() []statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.statements
	r.statements = nil
	return taken
}

// replay runs statements one after the other and reads what they give, to no purpose.
func replay(ctx context.Context, conn *pgx.Conn, statements []statement) error {
	for _, s := range statements {
		rows, err := conn.Query(ctx, s.sql, s.args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			rows.RawValues()
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}
