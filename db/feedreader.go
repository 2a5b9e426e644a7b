package db

import (
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

const (
	feedWakes  = 64               // readers woken at once
	feedBreath = time.Millisecond // and a pause before the next
)

// add hands messages to a subscription from now on; with a viewer those that this player sees.
func (f *feed) add(s *Subscription, viewer *chain.Hash) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.stopped:
		return errStopping
	case len(f.subscribers) >= MaxSubscribers:
		return fault.New(fault.Unavailable, "the server has %d subscribers to messages; at most as many are allowed", MaxSubscribers)
	}
	if viewer != nil {
		if f.seen[*viewer] == nil {
			f.seen[*viewer] = newSeenSessions(*viewer)
		}
		s.seen = f.seen[*viewer]
		s.seen.readers++
	}
	f.subscribers[s] = true
	return nil
}

func (f *feed) drop(s *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(s)
}

// remove is drop for who holds the lock.
func (f *feed) remove(s *Subscription) {
	if !f.subscribers[s] {
		return
	}
	delete(f.subscribers, s)
	if s.seen == nil {
		return
	}
	if s.seen.readers--; s.seen.readers == 0 {
		delete(f.seen, s.seen.player)
	}
}

// hand gives a message to those who want it. Many are woken little by little: all at once, they would keep everybody
// else from the processors.
func (f *feed) hand(m *chain.Message) {
	n := &notice{Message: m, size: sizeOf(m), held: &f.held}
	f.mu.Lock()
	wanting := f.wanting[:0]
	for s := range f.subscribers {
		if s.takes(m) {
			wanting = append(wanting, s)
		}
	}
	f.mu.Unlock()
	for i, s := range wanting {
		if i > 0 && i%feedWakes == 0 {
			time.Sleep(feedBreath)
		}
		if !s.put(n) {
			f.drop(s)
		}
	}
	clear(wanting)
	f.wanting = wanting
	for f.held.Load() > f.maxHeld && f.relieve() {
	}
}

// relieve cuts off the reader for whom most waits. It tells whether there was one.
func (f *feed) relieve() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	var slowest *Subscription
	most := 0
	for s := range f.subscribers {
		if backlog := s.backlog(); backlog > most {
			slowest, most = s, backlog
		}
	}
	if slowest == nil {
		return false
	}
	f.remove(slowest)
	slowest.cut(errBehind)
	return true
}
