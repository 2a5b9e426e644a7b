package db

import (
	"context"
	"sync"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// How much of messages, with their content, attachments and surroundings, is read at once, in bytes.
const (
	MaxAnswerBytes = 64 << 20 // for one answer
	maxPageBytes   = 16 << 20 // for one page
	mostBytes      = 4 << 20  // what one message cannot exceed
	refBytes       = 128      // what a ref counts
)

// ErrBudget says that an answer is about more than may be read for it.
var ErrBudget = fault.New(fault.BadUserInput, "the answer would take more than %d MiB of messages: ask for shorter pages, or for fewer messages at once", MaxAnswerBytes>>20)

// Budget bounds what is read for one answer, MaxAnswerBytes. A read sets aside what it may come to before it begins, and
// waits while others have set aside too much. It is safe for concurrent use; nil is no bound.
type Budget struct {
	exceeded func()

	mu      sync.Mutex
	settled sync.Cond
	left    int64
	aside   int64 // of which reads that are under way may take so much
}

// NewBudget makes a budget. exceeded is called when a read asks for more.
func NewBudget(exceeded func()) *Budget {
	b := &Budget{left: MaxAnswerBytes, exceeded: exceeded}
	b.settled.L = &b.mu
	return b
}

type budgetKey struct{}

// WithBudget lets what is read with the context count.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

func budgetFrom(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// take sets bytes aside for a read, fewer if there are no more, and gives how many. The read settles what it has used.
func (b *Budget) take(bytes int64) (granted int64, settle func(used int64), err error) {
	if b == nil {
		return bytes, func(int64) {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.left-b.aside < bytes && b.aside > 0 {
		b.settled.Wait()
	}
	if b.left <= 0 {
		b.exceeded()
		return 0, nil, ErrBudget
	}
	bytes = min(bytes, b.left)
	b.aside += bytes
	return bytes, func(used int64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.aside -= bytes
		b.left -= used
		b.settled.Broadcast()
	}, nil
}

// over gives the error of a read that came to more than it was granted.
func (b *Budget) over() error {
	b.exceeded()
	return ErrBudget
}

// messagesWithin reads messages by hash, if they fit into the budget of the answer.
func (d *DB) messagesWithin(ctx context.Context, b *Budget, hashes []chain.Hash) ([]chain.Message, error) {
	bytes, settle, err := b.take(min(MaxAnswerBytes, int64(len(hashes))*mostBytes))
	if err != nil {
		return nil, err
	}
	rows, err := d.readByKey().MessagesWithin(ctx, hashTexts(hashes), d.viewerText(), bytes)
	var used int64
	if len(rows) > 0 {
		used = rows[len(rows)-1].Total
	}
	settle(used)
	switch {
	case err != nil:
		return nil, mapError(err)
	case used > bytes:
		return nil, b.over()
	}
	found := make([]chain.Message, len(rows))
	for i, r := range rows {
		found[i] = messageOf(sized(r).message())
	}
	return found, nil
}

// refsWithin reads refs, if they fit into the budget of the answer.
func (d *DB) refsWithin(ctx context.Context, b *Budget, messages []chain.Hash) (map[chain.Hash][]chain.Ref, error) {
	bytes, settle, err := b.take(min(maxPageBytes, int64(len(messages))*chain.MaxRefs*refBytes))
	if err != nil {
		return nil, err
	}
	most := bytes / refBytes
	out, n, err := refsOf(ctx, d.readByKey(), messages, d.viewerText(), most+1)
	settle(n * refBytes)
	if err == nil && n > most {
		return nil, b.over()
	}
	return out, err
}
