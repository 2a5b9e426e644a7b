package db

import (
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
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
	for _, session := range s.places() {
		if f.of[session] == nil {
			f.of[session] = map[*Subscription]bool{}
		}
		f.of[session][s] = true
	}
	return nil
}

// places is where the feed keeps a subscription: by its sessions, or by the zero hash.
func (s *Subscription) places() []chain.Hash {
	if s.sessions == nil {
		return []chain.Hash{{}}
	}
	return s.sessions
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
	for _, session := range s.places() {
		if delete(f.of[session], s); len(f.of[session]) == 0 {
			delete(f.of, session)
		}
	}
	if s.seen == nil {
		return
	}
	if s.seen.readers--; s.seen.readers == 0 {
		delete(f.seen, s.seen.player)
	}
}

// hand gives a message to those who want it.
func (f *feed) hand(m *chain.Message) {
	n := &notice{Message: m, size: sizeOf(m), held: &f.held}
	f.mu.Lock()
	wanting := f.wanting[:0]
	for _, v := range f.seen {
		v.note(m)
	}
	for _, session := range []chain.Hash{m.SessionHash, {}} {
		for s := range f.of[session] {
			if s.takes(m) {
				wanting = append(wanting, s)
			}
		}
	}
	f.mu.Unlock()
	for _, s := range wanting {
		if !s.put(n) {
			f.drop(s)
		}
	}
	f.pace.wake(wanting)
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
