package db

import (
	"runtime"
	"sync"
	"time"
)

const (
	wakeAtOne = 32                     // readers of a message who are woken at once
	paceEvery = time.Millisecond       // between looks at whether it goes on
	paceRound = 5                      // looks in a round, after which nobody waits for turns that did not end
	wakesAll  = 250 * time.Millisecond // in which all that wait are woken, whatever the others do

	paceTurn   = 200 * time.Microsecond // for each turn that is passed on, at one processor's
	paceSpread = 200 * time.Millisecond // in which turns are passed on to all that wait, if they are more
)

// pace wakes the many readers of a message one after the other: all at once, they would keep everybody else from the
// processors. At most as many as half the processors have a turn, and who has finished passes it on, but not faster than
// it takes to come round evenly within paceSpread: who asks for something else in between finds the processors idle for
// most of the time, and not busy for some of it. Those who take too long, as when their client does not read or is gone,
// are not waited for. The feed does not wait for any of it.
type pace struct {
	mu      sync.Mutex
	waiting []*Subscription // in the order in which they are woken
	runs    bool            // the look-out does
	turns   int             // of this round
	round   int64           // from 1; turns of those before do not count any more
	done    int             // turns that ended since the last look
	looks   int             // of this round
	most    int             // who waited at once, since nobody did
	allowed float64         // to be woken until the next look
}

// wake wakes readers, soon.
func (p *pace) wake(all []*Subscription) {
	if len(all) > wakeAtOne {
		all = p.enqueue(all)
	}
	for _, s := range all {
		s.wake()
	}
}

// enqueue lets readers wait for their turn, and gives those who have it.
func (p *pace) enqueue(all []*Subscription) []*Subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range all {
		if !s.due.Swap(true) {
			p.waiting = append(p.waiting, s)
		}
	}
	p.most = max(p.most, len(p.waiting))
	if !p.runs && len(p.waiting) > 0 {
		p.runs, p.allowed = true, float64(atOnce())
		p.begin()
		go p.run()
	}
	return p.next(0)
}

// begin begins a round.
func (p *pace) begin() { p.round, p.turns, p.done, p.looks = p.round+1, 0, 0, 0 }

// atOnce is how many readers may have one at a time.
func atOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// next gives those whose turn it is: as many as may have one and are allowed, and at least some.
func (p *pace) next(some int) []*Subscription {
	n := min(len(p.waiting), max(some, min(atOnce()-p.turns, int(p.allowed))))
	if n <= 0 {
		return nil
	}
	p.allowed = max(0, p.allowed-float64(n))
	next := p.waiting[:n:n]
	p.waiting = p.waiting[n:]
	for _, s := range next {
		s.due.Store(false)
		if s.turn.Swap(p.round) != p.round {
			p.turns++
		}
	}
	return next
}

// finished ends a reader's turn, if it has one.
func (p *pace) finished(s *Subscription) {
	round := s.turn.Swap(0)
	if round == 0 {
		return
	}
	p.mu.Lock()
	var next []*Subscription
	if p.done++; round == p.round {
		p.turns--
		next = p.next(0)
	}
	p.mu.Unlock()
	for _, s := range next {
		s.wake()
	}
}

// run looks out for as long as somebody waits.
func (p *pace) run() {
	for looked := time.Now(); ; {
		time.Sleep(paceEvery)
		since := time.Since(looked)
		looked = looked.Add(since)
		next, ended := p.look(since)
		for _, s := range next {
			s.wake()
		}
		if ended {
			return
		}
	}
}

// look gives those who are woken although others have not finished, after a pause, and whether nobody waits any more.
func (p *pace) look(since time.Duration) (next []*Subscription, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.waiting, p.runs, p.most = nil, false, 0
		return nil, true
	}
	least := 1 + int(float64(p.most)*float64(since)/float64(wakesAll)) - p.done
	p.done = 0
	p.allow(since)
	if p.looks++; p.looks == paceRound {
		p.begin()
	}
	return p.next(least), false
}

// allow allows more to be woken after a pause: what was not made use of counts for a round at most.
func (p *pace) allow(since time.Duration) {
	perSecond := max(float64(atOnce())/paceTurn.Seconds(), float64(p.most)/paceSpread.Seconds())
	most := perSecond * (paceRound * paceEvery).Seconds()
	p.allowed = min(p.allowed+perSecond*since.Seconds(), most)
}
