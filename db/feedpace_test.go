package db

import (
	"runtime"
	"testing"
	"time"
)

func readersOf(p *pace, n int) []*Subscription {
	all := make([]*Subscription, n)
	for i := range all {
		all[i] = &Subscription{news: make(chan struct{}, 1), pace: p}
	}
	return all
}

func woken(all []*Subscription) (n int) {
	for _, s := range all {
		n += len(s.news)
	}
	return n
}

// Some readers have a turn, and pass it on in the order in which they came; each has one, however often it is due.
func TestPace(t *testing.T) {
	t.Parallel()
	p := &pace{runs: true, round: 1, allowed: 10_000} // nobody looks out
	all, turns := readersOf(p, 3000), max(1, runtime.GOMAXPROCS(0)/2)
	p.wake(all)
	p.wake(all)
	for i := range all {
		if n, want := woken(all), min(len(all), i+turns); n != want || len(all[i].news) == 0 {
			t.Fatalf("%d readers are woken when %d had finished, want %d; reader %d is one: %t", n, i, want, i, len(all[i].news) == 1)
		}
		all[i].Delivered()
		all[i].Delivered() // once is enough
	}
	// The first ones were due again as soon as they had been woken.
	if n := len(p.waiting); n != 0 && n != turns {
		t.Errorf("%d wait when all are done", n)
	}
	few := readersOf(p, wakeAtOne)
	p.wake(few)
	if n := woken(few); n != len(few) {
		t.Errorf("%d of a few readers are woken, want all", n)
	}
}

// However soon readers finish, turns are passed on no faster than evenly within paceSpread: after a part of it, that
// part of the readers was woken.
func TestPaceIsEven(t *testing.T) {
	t.Parallel()
	turns := max(1, runtime.GOMAXPROCS(0)/2)
	p := &pace{runs: true, round: 1}
	all := readersOf(p, 2000*turns) // more than come to their turn at the pace of one
	p.wake(all)
	passed := 0 // in order, each as soon as it was woken
	for took := paceEvery; took <= paceSpread; took += paceEvery {
		next, _ := p.look(paceEvery)
		for _, s := range next {
			s.wake()
		}
		for passed < len(all) && len(all[passed].news) > 0 {
			all[passed].Delivered()
			passed++
		}
		if most := int(float64(len(all))*float64(took)/float64(paceSpread)) + turns; passed > most {
			t.Fatalf("%d of %d readers had their turn after %v of looks, want at most %d", passed, len(all), took, most)
		}
	}
	if most := len(all) - turns; passed < most {
		t.Errorf("%d of %d readers had their turn after all looks, want at least %d", passed, len(all), most)
	}
	few := &pace{runs: true, round: 1}
	some := readersOf(few, 100)
	few.wake(some)
	few.allow(time.Second)
	if got, want := few.allowed, float64(turns)*float64(paceRound*paceEvery)/float64(paceTurn); got != want {
		t.Errorf("%v are allowed after a second in which nobody looked, want %v, those of a round", got, want)
	}
}

// All are woken within a quarter of a second although none finishes, and their turns keep nobody from having one later.
func TestPaceOfTheStalled(t *testing.T) {
	t.Parallel()
	p := &pace{runs: true, round: 1}
	look := func() {
		next, ended := p.look(paceEvery)
		if ended {
			t.Fatal("it ends while readers wait")
		}
		for _, s := range next {
			s.wake()
		}
	}
	stalled, took := readersOf(p, 3000), time.Duration(0)
	for p.wake(stalled); len(p.waiting) > 0; took += paceEvery {
		look()
	}
	if n := woken(stalled); n != len(stalled) || took < wakesAll/2 || took > wakesAll {
		t.Errorf("%d of %d readers are woken within %v, want all, in %v at most", n, len(stalled), took, wakesAll)
	}
	p.runs = true
	later := readersOf(p, 3000)
	p.wake(later)
	for range paceRound {
		look()
	}
	for _, s := range stalled {
		s.Delivered() // too late to count
	}
	before, finished := woken(later), 0
	for _, s := range later[:before] {
		if s.turn.Load() == p.round {
			finished++
			s.Delivered()
		}
	}
	if n := woken(later) - before; finished == 0 || n != max(1, runtime.GOMAXPROCS(0)/2) {
		t.Errorf("%d more readers are woken when %d have finished, want as many as may have a turn", n, finished)
	}
}

// Those who are due are woken, and more that come meanwhile, by the look-out alone.
func TestPaceRuns(t *testing.T) {
	t.Parallel()
	p := &pace{}
	for round := range 3 {
		all := readersOf(p, 200)
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
