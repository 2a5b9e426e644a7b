// Package overload keeps a server useful when more is asked of it than it can do: so many requests are at work at a
// time, a few wait for a moment, and the others are refused at once, which costs next to nothing. It knows nothing of
// what the work is.
package overload

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// Patience is how long a request may wait for its place. Who waits longer is refused, well within a tenth of a second.
const Patience = 25 * time.Millisecond

// RetryAfter is what those who are refused are told to wait, in seconds.
const RetryAfter = "1"

// ErrFull is what those get who find no place, as UNAVAILABLE.
var ErrFull = fault.New(fault.Unavailable, "the server has more to do than it can; nothing was done, try again in a second")

// Room is so much of something that many have use of, such as bytes of memory. Its last quarter is for those who have no
// more than a quarter themselves, so that it takes several to keep others out. Make it with NewRoom. It is safe for
// concurrent use.
type Room struct {
	mu     sync.Mutex
	share  share            // what is taken or set aside
	aside  map[string]int64 // what is set aside
	wanted map[string]int64 // what those were refused last who have taken some
}

// NewRoom makes a room for so much.
func NewRoom(most int64) *Room {
	return &Room{share: newShare(most), aside: map[string]int64{}, wanted: map[string]int64{}}
}

// Take takes n for whoever it is, "" being nobody in particular, who may have all. It tells whether there was so much.
func (r *Room) Take(who string, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take(who, n)
}

// Give gives back what was taken.
func (r *Room) Give(who string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share.add(who, -n)
	r.forget(who)
}

// SetAside takes as much as somebody was refused last, for what they may need this time; nothing for those who were refused
// nothing, or have given back everything since. It tells whether there was so much.
func (r *Room) SetAside(who string) (n int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = r.wanted[who]
	if n == 0 {
		return 0, true
	}
	if !r.share.has(who, n) {
		return 0, false
	}
	r.share.add(who, n)
	r.aside[who] += n
	return n, true
}

// Settle gives back what was set aside, and takes n instead. It tells whether there was so much. Who needs less than was set
// aside will have to set less aside.
func (r *Room) Settle(who string, aside, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if aside > 0 {
		r.share.add(who, -aside)
		if r.aside[who] -= aside; r.aside[who] == 0 {
			delete(r.aside, who)
		}
		r.wanted[who] = max(n, r.wanted[who]/2)
	}
	defer r.forget(who)
	return r.take(who, n)
}

func (r *Room) take(who string, n int64) bool {
	if n == 0 || r.share.has(who, n) {
		r.share.add(who, n)
		return true
	}
	r.wanted[who] = n
	r.forget(who)
	return false
}

// forget forgets what somebody was refused who has taken nothing.
func (r *Room) forget(who string) {
	if r.share.by[who] == r.aside[who] || r.wanted[who] == 0 {
		delete(r.wanted, who)
	}
}

// share is how much of something is in use, and by whom.
type share struct {
	most, used int64
	by         map[string]int64
}

func newShare(most int64) share { return share{most: most, by: map[string]int64{}} }

func (s *share) has(who string, n int64) bool {
	quarter := s.most / 4
	return s.used+n <= s.most-quarter || s.used+n <= s.most && (who == "" || s.by[who]+n <= quarter)
}

func (s *share) add(who string, n int64) {
	s.used += n
	if s.by[who] += n; s.by[who] == 0 {
		delete(s.by, who)
	}
}

// Gate lets so many in at a time, and so many wait for a moment: of both, the last quarter is kept as that of a Room is.
// Nobody waits who is likely to do so in vain, which would cost as much as to be served and come to a late refusal: while
// whoever is first has waited for half of Patience, others are refused at once; and of those of whom one has waited in vain
// only one waits at a time, until one of them gets in. Make it with New; nil lets everybody in. It is safe for concurrent use.
type Gate struct {
	mu      sync.Mutex
	in      share
	waiting share
	queue   list.List       // of *waiter, who has waited longest first
	vain    map[string]bool // of whom one has waited in vain, and none has got in since
}

type waiter struct {
	who   string
	since time.Time
	ready chan struct{} // closed once they are in
}

// New makes a gate with places for those at work, and a queue for those who wait for one.
func New(places, queue int) *Gate {
	return &Gate{in: newShare(int64(places)), waiting: newShare(int64(queue)), vain: map[string]bool{}}
}

// Enter gives a place to whoever it is, "" being nobody in particular, which is free again once leave was called; calling it
// again does nothing. The error is ErrFull, or that of ctx.
func (g *Gate) Enter(ctx context.Context, who string) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	place, err := g.enter(who)
	if err != nil {
		return nil, err
	}
	leave = sync.OnceFunc(func() { g.leave(who) })
	if place == nil {
		return leave, nil
	}
	w := place.Value.(*waiter)
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	inVain, err := true, error(ErrFull)
	select {
	case <-w.ready:
		return leave, nil
	case <-timer.C:
	case <-ctx.Done():
		inVain = false
		err = fault.Wrap(ctx.Err(), fault.Unavailable, "the request ended before its turn; nothing was done")
	}
	if !g.giveUp(place, inVain) {
		return leave, nil // it was let in just now
	}
	return nil, err
}

// enter lets somebody in, or gives their place in the queue.
func (g *Gate) enter(who string) (*list.Element, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.in.has(who, 1):
		g.letIn(who)
		return nil, nil
	case g.waiting.has(who, 1) && !g.hopeless(who):
		g.waiting.add(who, 1)
		return g.queue.PushBack(&waiter{who, time.Now(), make(chan struct{})}), nil
	}
	return nil, ErrFull
}

func (g *Gate) letIn(who string) {
	g.in.add(who, 1)
	delete(g.vain, who)
}

// hopeless tells whether somebody would probably wait in vain. Those of whom one has done so say nothing about others, who
// may have places that they may not.
func (g *Gate) hopeless(who string) bool {
	if g.vain[who] {
		return g.waiting.by[who] > 0
	}
	for place := g.queue.Front(); place != nil; place = place.Next() {
		if w := place.Value.(*waiter); !g.vain[w.who] {
			return time.Since(w.since) > Patience/2
		}
	}
	return false
}

// leave gives a place back, to the first in the queue who may have it.
func (g *Gate) leave(who string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.in.add(who, -1)
	for place := g.queue.Front(); place != nil; place = place.Next() {
		if w := place.Value.(*waiter); g.in.has(w.who, 1) {
			g.drop(place)
			g.letIn(w.who)
			close(w.ready)
			return
		}
	}
	if len(g.vain) > 0 && g.in.used < g.in.most-g.in.most/4 { // everybody may come in
		clear(g.vain)
	}
}

// giveUp leaves the queue, in vain unless who has waited went away. It tells whether there was still need to.
func (g *Gate) giveUp(place *list.Element, inVain bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-place.Value.(*waiter).ready:
		return false
	default:
		g.drop(place)
		if inVain {
			g.vain[place.Value.(*waiter).who] = true
		}
		return true
	}
}

func (g *Gate) drop(place *list.Element) {
	g.waiting.add(place.Value.(*waiter).who, -1)
	g.queue.Remove(place)
}

// Handler lets requests through the gate. Those that find no place get 503.
func (g *Gate) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave, err := g.Enter(r.Context(), "")
		if err != nil {
			w.Header().Set("Retry-After", RetryAfter)
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer leave()
		next.ServeHTTP(w, r)
	})
}
