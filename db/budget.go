package db

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
)

// How much is read from the database, in bytes as it sends them.
const (
	MaxAnswerBytes = 32 << 20 // for one answer
	maxPageBytes   = 16 << 20 // for one page of messages
)

// ErrBudget says that an answer is about more than may be read for it, or sent as it.
var ErrBudget = fault.New(fault.BadUserInput, "the answer would take more than %d MiB: ask for shorter pages, or for less at once", MaxAnswerBytes>>20)

// Budget bounds what is read for one answer, MaxAnswerBytes. It is safe for concurrent use; nil is no bound.
type Budget struct {
	left     atomic.Int64
	exceeded func()
}

// NewBudget makes a budget. exceeded is called when it is used up.
func NewBudget(exceeded func()) *Budget {
	b := &Budget{exceeded: exceeded}
	b.left.Store(MaxAnswerBytes)
	return b
}

// Take takes so many bytes out of the budget, and gives ErrBudget if there were not so many.
func (b *Budget) Take(bytes int64) error {
	if b == nil {
		return nil
	}
	left := b.left.Add(-bytes)
	if left >= 0 {
		return nil
	}
	if left+bytes >= 0 {
		b.exceeded()
	}
	return ErrBudget
}

type budgetKey struct{}

// WithBudget lets what is read with the context count.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// budgetFrom gives the budget of an answer, nil if it has none.
func budgetFrom(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// cut ends a page before its limit, behind maxPageBytes. A page always has a row, if there is one.
type cut struct {
	rows int
	left int64
	done bool // it did
}

type cutKey struct{}

// metered reads rows as long as there is a budget for them.
type metered struct{ dbgen.DBTX }

// Query gives rows that must be closed.
func (m metered) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	page, _ := ctx.Value(cutKey{}).(*cut)
	budget := budgetFrom(ctx)
	if budget == nil && page == nil {
		return m.DBTX.Query(ctx, sql, args...)
	}
	ctx, cancel := context.WithCancel(ctx)
	rows, err := m.DBTX.Query(ctx, sql, args...)
	if err != nil {
		cancel()
		return nil, err
	}
	return &meteredRows{Rows: rows, budget: budget, page: page, cancel: cancel}, nil
}

// meteredRows end, and their statement with them, when they come to more than they may.
type meteredRows struct {
	pgx.Rows
	budget *Budget
	page   *cut
	cancel context.CancelFunc
	ended  bool
	err    error // why
}

// Next reads a row.
func (r *meteredRows) Next() bool {
	if r.ended || !r.Rows.Next() {
		return false
	}
	var bytes int64
	for _, value := range r.Rows.RawValues() {
		bytes += int64(len(value))
	}
	if r.page != nil {
		r.page.rows++
		if r.page.left -= bytes; r.page.left < 0 && r.page.rows > 1 {
			r.page.done = true
			return r.end(nil)
		}
	}
	if err := r.budget.Take(bytes); err != nil {
		return r.end(err)
	}
	return true
}

// end leaves the rest unread.
func (r *meteredRows) end(err error) bool {
	r.ended, r.err = true, err
	r.cancel()
	r.Rows.Close()
	return false
}

// Err gives what went wrong.
func (r *meteredRows) Err() error {
	if r.ended {
		return r.err
	}
	return r.Rows.Err()
}

// Close closes the rows.
func (r *meteredRows) Close() {
	r.Rows.Close()
	r.cancel()
}
