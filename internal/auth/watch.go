package auth

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// Streams outlive the request that their token was checked for. All of them are looked at together, by one question to
// the database. When it does not answer, a stream stays, but nothing goes out on it that has not been checked for.
const (
	watchInterval = time.Second
	watchTrust    = 3 * time.Second // how long what was last found holds for what goes out
)

// Watch is what the watch over a stream can be asked for. It is for the stream's goroutine, but for Stop.
type Watch struct {
	// Check tells, before something goes out, whether it may. If not, which is UNAUTHENTICATED or UNAVAILABLE, the
	// stream's context has ended for that reason.
	Check func(context.Context) error
	// Stop ends the watch, and the stream's context.
	Stop func()
}

// watches are the streams that are open. Safe for concurrent use.
type watches struct {
	now func() time.Time

	mu   sync.Mutex
	open map[*watched]bool
	seen time.Time // from before the last question that was answered
}

type watched struct {
	tokenID string
	session func() bool // whether the console's session is open; nil without one
	end     context.CancelCauseFunc
}

func newWatches(now func() time.Time) *watches {
	return &watches{now: now, open: map[*watched]bool{}}
}

// Watch gives a context for a stream of the caller in ctx, which ends when their token may no longer be used, or their
// session of the console is over: its cause is then UNAUTHENTICATED. The error is the same if that is so already.
func (t *Tokens) Watch(ctx context.Context) (context.Context, Watch, error) {
	o, _ := ctx.Value(contextKey{}).(outcome)
	caller, err := From(ctx)
	if err == nil {
		err = t.Recheck(ctx, caller)
	}
	if err != nil {
		return ctx, Watch{}, err
	}
	release := func() {}
	if caller.TokenID == "" && !caller.Expires.IsZero() { // a provider's, whose end is known
		ctx, release = context.WithTimeoutCause(ctx, caller.Expires.Sub(t.store.Now()), errUnknown())
	}
	ctx, end := context.WithCancelCause(ctx)
	w := &watched{tokenID: caller.TokenID, session: o.session, end: end}
	t.watches.add(w)
	return ctx, Watch{
		Check: func(ctx context.Context) error {
			if w.tokenID == "" || t.watches.fresh() {
				return nil
			}
			err := t.Recheck(ctx, caller)
			if err != nil {
				end(err)
			}
			return err
		},
		Stop: func() { t.watches.drop(w); end(nil); release() },
	}, nil
}

func (w *watches) add(s *watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[s] = true
}

func (w *watches) drop(s *watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, s)
}

func (w *watches) fresh() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now().Sub(w.seen) < watchTrust
}

// look ends the streams that have to end.
func (w *watches) look(ctx context.Context, store Store) {
	began := w.now()
	open, ids := w.list()
	live := ids
	if len(ids) > 0 {
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		var err error
		if live, err = store.LiveTokens(ctx, ids); err != nil {
			live = ids // nothing is known; see Check
		} else {
			w.mu.Lock()
			w.seen = began
			w.mu.Unlock()
		}
	}
	lives := map[string]bool{"": true}
	for _, id := range live {
		lives[id] = true
	}
	for _, s := range open {
		switch {
		case s.session != nil && !s.session():
			s.end(errSessionOver())
		case !lives[s.tokenID]:
			s.end(errUnknown())
		}
	}
}

// list gives the streams, and the ids of their tokens, each once.
func (w *watches) list() (open []*watched, ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.open {
		open = append(open, s)
		if s.tokenID != "" {
			ids = append(ids, s.tokenID)
		}
	}
	slices.Sort(ids)
	return open, slices.Compact(ids)
}

func errSessionOver() error {
	return fault.New(fault.Unauthenticated, "the session has ended: sign in again")
}
