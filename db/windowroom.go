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
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.counted {
		size, err := q.ScratchpadSize(ctx, id)
		if err != nil {
			return nil, err
		}
		a.counted, a.entries, a.bytes = true, int(size.Entries), int(size.Bytes)
	}
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
