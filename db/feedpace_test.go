package db

import (
	"testing"
	"time"
)

// Readers are woken in their order, each once however often it is due, and all within a quarter of a second.
func TestPace(t *testing.T) {
	t.Parallel()
	all := make([]*Subscription, 3000)
	for i := range all {
		all[i] = &Subscription{news: make(chan struct{}, 1)}
	}
	p := &pace{runs: true} // it does not run by itself
	p.wake(all)
	p.wake(all)
	if len(p.waiting) != len(all) {
		t.Fatalf("%d wait, want %d: each once", len(p.waiting), len(all))
	}
	woken, took := 0, time.Duration(0)
	for len(p.waiting) > 0 {
		for _, s := range p.next(wakeEvery) {
			if s != all[woken] {
				t.Fatalf("reader %d is not woken in its turn", woken)
			}
			woken++
		}
		took += wakeEvery
	}
	if woken != len(all) || took < wakesAll/2 || took > 4*wakesAll {
		t.Errorf("%d of %d readers are woken within %v, want all, in some %v", woken, len(all), took, wakesAll)
	}
	if n := len(p.next(wakeEvery)); n != 0 || !p.ended() {
		t.Errorf("%d are woken when nobody waits", n)
	}
	few := all[:wakeAtOne]
	p.wake(few)
	for i, s := range few {
		if len(s.news) != 1 {
			t.Fatalf("reader %d of a few waits", i)
		}
	}
}

// Those who are due are woken, and more that come meanwhile.
func TestPaceRuns(t *testing.T) {
	t.Parallel()
	p := &pace{}
	for round := range 3 {
		all := make([]*Subscription, 200)
		for i := range all {
			all[i] = &Subscription{news: make(chan struct{}, 1)}
		}
		p.wake(all)
		for i, s := range all {
			select {
			case <-s.news:
			case <-time.After(10 * time.Second):
				t.Fatalf("round %d: reader %d is not woken", round, i)
			}
		}
	}
}
