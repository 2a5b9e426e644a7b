package db

import (
	"context"
	"slices"
	"sync"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// How many checks run at once, and how many wait. Each that runs holds a connection and keeps a processor busy, for as long
// as what it reads is long. Who sees all may run all; the places of those who wait are counted apart for them.
const (
	maxChecks              = 2
	maxPlayerChecks        = 1 // of a player, that run
	maxWaitingChecks       = 8
	maxPlayerWaitingChecks = 3 // of a player; 1 of the last quarter
)

// turns are those of checks. A place that becomes free goes to whoever else waits the longest and may have it, and only
// then to another check of the same player: however many one asks for, the others have their turn. It is safe for
// concurrent use.
type turns struct {
	mu      sync.Mutex
	running tally
	waiting struct{ players, others tally }
	queue   []*turn // who has waited longest first
}

type turn struct {
	who   chain.Hash // the zero hash is nobody in particular, who sees all
	ready chan struct{}
}

// tally counts by player, and all together.
type tally struct {
	all int
	by  map[chain.Hash]int
}

func (t *tally) add(who chain.Hash, n int) {
	if t.by == nil {
		t.by = map[chain.Hash]int{}
	}
	t.all += n
	if t.by[who] += n; t.by[who] == 0 {
		delete(t.by, who)
	}
}

// take waits until a check of the viewer may run, which is to call leave once when it has ended.
//
// Faults: UNAVAILABLE if too many wait, or ctx ends first.
func (t *turns) take(ctx context.Context, viewer *chain.Hash) (leave func(), err error) {
	var who chain.Hash
	if viewer != nil {
		who = *viewer
	}
	mine, err := t.enter(who)
	if err != nil {
		return nil, err
	}
	leave = func() { t.leave(who) }
	select {
	case <-mine.ready:
		return leave, nil
	case <-ctx.Done():
		if !t.giveUp(mine) {
			leave() // its turn has just come
		}
		return nil, mapError(ctx.Err())
	}
}

// enter gives somebody's turn, for which they may have to wait.
func (t *turns) enter(who chain.Hash) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := &turn{who, make(chan struct{})}
	if t.mayRun(who) {
		t.run(mine)
		return mine, nil
	}
	waiting := t.waitingWith(who)
	switch {
	case waiting.all >= maxWaitingChecks:
		return nil, fault.New(fault.Unavailable, "%d checks are under way or wait for their turn; try again later", maxChecks+maxWaitingChecks)
	case who != chain.Hash{} && waiting.by[who] >= playerShare(waiting.all):
		return nil, fault.New(fault.Unavailable, "%d checks of yours are under way or wait for their turn; try again later", t.running.by[who]+waiting.by[who])
	}
	waiting.add(who, 1)
	t.queue = append(t.queue, mine)
	return mine, nil
}

func (t *turns) run(next *turn) {
	t.running.add(next.who, 1)
	close(next.ready)
}

// playerShare is how many checks of a player may wait where so many do.
func playerShare(waiting int) int {
	if waiting >= maxWaitingChecks-maxWaitingChecks/4 {
		return 1
	}
	return maxPlayerWaitingChecks
}

func (t *turns) mayRun(who chain.Hash) bool {
	return t.running.all < maxChecks && (who == chain.Hash{} || t.running.by[who] < maxPlayerChecks)
}

// waitingWith are those among whom somebody waits.
func (t *turns) waitingWith(who chain.Hash) *tally {
	if (who == chain.Hash{}) {
		return &t.waiting.others
	}
	return &t.waiting.players
}

// leave gives a place to the next.
func (t *turns) leave(who chain.Hash) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running.add(who, -1)
	next := slices.IndexFunc(t.queue, func(w *turn) bool { return w.who != who && t.mayRun(w.who) })
	if next < 0 {
		next = slices.IndexFunc(t.queue, func(w *turn) bool { return t.mayRun(w.who) })
	}
	if next >= 0 {
		t.run(t.drop(next))
	}
}

// giveUp leaves the queue. It tells whether there was still need to.
func (t *turns) giveUp(mine *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	place := slices.Index(t.queue, mine)
	if place >= 0 {
		t.drop(place)
	}
	return place >= 0
}

func (t *turns) drop(place int) *turn {
	gone := t.queue[place]
	t.queue = slices.Delete(t.queue, place, place+1)
	t.waitingWith(gone.who).add(gone.who, -1)
	return gone
}
