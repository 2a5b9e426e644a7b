package db

import (
	"runtime"
	"sync"
	"time"
)

const (
	wakeEvery = time.Millisecond
	wakes     = 4                      // readers at a time, for each processor
	wakesAll  = 250 * time.Millisecond // in which all that wait are woken, however many there are
	wakeAtOne = 32                     // readers of a message who are woken at once
)

// pace wakes the many readers of a message little by little: all at once, they would keep everybody else from the
// processors. The feed does not wait for it.
type pace struct {
	mu      sync.Mutex
	waiting []*Subscription // in the order in which they are woken
	runs    bool
}

// wake wakes readers, soon.
func (p *pace) wake(all []*Subscription) {
	if len(all) <= wakeAtOne {
		for _, s := range all {
			s.wake()
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range all {
		if !s.due.Swap(true) {
			p.waiting = append(p.waiting, s)
		}
	}
	if !p.runs {
		p.runs = true
		go p.run()
	}
}

// run wakes until nobody waits.
func (p *pace) run() {
	for began := time.Now(); ; {
		time.Sleep(wakeEvery)
		since := time.Since(began)
		began = began.Add(since)
		for _, s := range p.next(since) {
			s.due.Store(false)
			s.wake()
		}
		if p.ended() {
			return
		}
	}
}

// next takes those who are to be woken after a pause.
func (p *pace) next(since time.Duration) []*Subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := float64(since) / float64(wakeEvery)
	n := max(wakes*runtime.GOMAXPROCS(0), int(float64(len(p.waiting))*float64(wakeEvery)/float64(wakesAll)))
	n = min(len(p.waiting), max(1, int(parts*float64(n))))
	next := p.waiting[:n:n]
	p.waiting = p.waiting[n:]
	return next
}

func (p *pace) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		return false
	}
	p.waiting, p.runs = nil, false
	return true
}
