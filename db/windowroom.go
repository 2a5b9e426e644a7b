package db

import (
	"context"
	"sync"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
)

// aside is how much a window's scratchpad holds. It is counted at most once a minute, and this server adds what it puts there: to
// keep a sum in the database took a tenth longer for each entry. What other servers put there in the meantime is not in it.
type aside struct {
	mu      sync.Mutex
	counted bool
	entries int
	bytes   int
}

// takeRoom has so much of a window's scratchpad taken, before it is put there; giveBack is for what was not.
//
// Faults: CONFLICT if that would be more than a scratchpad may hold.
func (w *windows) takeRoom(ctx context.Context, q *dbgen.Queries, id string, entries, bytes int) (giveBack func(), err error) {
	if entries == 0 {
		return func() {}, nil
	}
	w.mu.Lock()
	a, ok := w.asides.Get(id)
	if !ok {
		a = &aside{}
		w.asides.Add(id, a)
	}
	w.mu.Unlock()
	if err := a.count(ctx, q, id); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries+entries > MaxAside || a.bytes+bytes > MaxAsideBytes {
		return nil, fault.New(fault.Conflict,
			"the window's scratchpad holds %d entries of %d bytes, and may hold at most %d entries and %d MiB: %d more of %d bytes do not fit, and nothing was changed. Go on in another window, or remove those that are no longer needed (deleteWindow)",
			a.entries, a.bytes, MaxAside, MaxAsideBytes>>20, entries, bytes)
	}
	a.entries, a.bytes = a.entries+entries, a.bytes+bytes
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.entries, a.bytes = a.entries-entries, a.bytes-bytes
	}, nil
}

// count finds out what a window's scratchpad holds, if that is not known. Nobody waits meanwhile, who may hold the connection that
// this needs: of several who count, the first one's count is taken, to which the others then add.
func (a *aside) count(ctx context.Context, q *dbgen.Queries, id string) error {
	a.mu.Lock()
	counted := a.counted
	a.mu.Unlock()
	if counted {
		return nil
	}
	size, err := q.ScratchpadSize(ctx, id)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.counted {
		a.counted, a.entries, a.bytes = true, int(size.Entries), int(size.Bytes)
	}
	return nil
}
