// Package overload keeps a server useful when more is asked of it than it can do: so many requests are at work at a
// time, a few wait for a moment, and the others are refused at once, which costs next to nothing. It knows nothing of
// what the work is.
package overload

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// Patience is how long a request may wait for its place. Who waits longer is refused, well within a tenth of a second.
const Patience = 25 * time.Millisecond

// RetryAfter is what those who are refused are told to wait, in seconds.
const RetryAfter = "1"

// ErrFull is what those get who find no place, as UNAVAILABLE.
var ErrFull = fault.New(fault.Unavailable, "the server has more to do than it can; nothing was done, try again in a second")

// Gate lets so many in at a time. Make it with New; nil lets everybody in. It is safe for concurrent use.
type Gate struct {
	places  chan struct{} // holds one for each who is in
	queue   int64
	waiting atomic.Int64
}

// New makes a gate with places for those at work, and a queue for those who wait for one.
func New(places, queue int) *Gate {
	return &Gate{places: make(chan struct{}, places), queue: int64(queue)}
}

// Enter gives a place, which is free again once leave was called; calling it again does nothing. The error is ErrFull,
// or that of ctx.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	select {
	case g.places <- struct{}{}:
		return g.leave(), nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > g.queue {
		return nil, ErrFull
	}
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case g.places <- struct{}{}:
		return g.leave(), nil
	case <-timer.C:
		return nil, ErrFull
	case <-ctx.Done():
		return nil, fault.Wrap(ctx.Err(), fault.Unavailable, "the request ended before its turn; nothing was done")
	}
}

func (g *Gate) leave() func() { return sync.OnceFunc(func() { <-g.places }) }

// Handler lets requests through the gate. Those that find no place get 503.
func (g *Gate) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave, err := g.Enter(r.Context())
		if err != nil {
			w.Header().Set("Retry-After", RetryAfter)
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer leave()
		next.ServeHTTP(w, r)
	})
}
