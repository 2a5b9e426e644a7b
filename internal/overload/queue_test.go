package overload

import (
	"container/list"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A place that becomes free goes to whoever waits longest of those who may have it.
func TestQueueOrder(t *testing.T) {
	t.Parallel()
	g := New(4, 4)
	enter := func(who string) *list.Element {
		place, err := g.enter(who)
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		return place
	}
	isIn := func(place *list.Element) bool {
		select {
		case <-place.Value.(*waiter).ready:
			return true
		default:
			return false
		}
	}
	for _, who := range []string{"greedy", "greedy", "greedy", "other"} {
		if enter(who) != nil {
			t.Fatalf("%s waits at a gate that is free", who)
		}
	}
	greedy, first, second := enter("greedy"), enter("first"), enter("second")
	g.leave("other")
	if isIn(greedy) || !isIn(first) || isIn(second) {
		t.Errorf("in are greedy: %t, first: %t, second: %t; want the first who has no share", isIn(greedy), isIn(first), isIn(second))
	}
	g.leave("greedy")
	if isIn(greedy) || !isIn(second) {
		t.Errorf("then in are greedy: %t, second: %t; want the second", isIn(greedy), isIn(second))
	}
	g.leave("first")
	if isIn(greedy) {
		t.Error("who has all but the last place got that")
	}
	g.leave("second")
	if !isIn(greedy) || g.queue.Len() != 0 || g.waiting.used != 0 || g.in.used != 3 || g.in.by["greedy"] != 3 {
		t.Errorf("greedy in: %t, %d wait, %+v; want nobody waiting and three places taken", isIn(greedy), g.queue.Len(), g.in)
	}
}

// Whoever would probably wait in vain is refused at once.
func TestQueueInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(4, 8)
		come := func(who string) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := g.Enter(t.Context(), who)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		refused := func(who string, want bool) {
			t.Helper()
			select {
			case err := <-come(who):
				if !want || !errors.Is(err, ErrFull) {
					t.Errorf("%s comes: %v", who, err)
				}
			default:
				if want {
					t.Errorf("%s waits", who)
				}
			}
		}
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		for _, who := range []string{"greedy", "greedy", "greedy", "other"} {
			<-come(who)
		}
		refused("greedy", false)
		refused("greedy", false)
		refused("third", false)
		pass(Patience/2 + time.Millisecond)
		refused("fourth", true) // the first has waited for too long
		g.leave("other")
		synctest.Wait()
		if g.in.by["third"] != 1 {
			t.Errorf("in are %v, want the third, who has no share", g.in.by)
		}
		pass(Patience)
		if g.queue.Len() != 0 || !g.vain["greedy"] || g.vain["third"] {
			t.Fatalf("%d wait, in vain did %v; want nobody, and the greedy", g.queue.Len(), g.vain)
		}
		refused("greedy", false)
		refused("greedy", true) // one waits already
		pass(Patience/2 + time.Millisecond)
		refused("fourth", false) // whom the greedy say nothing about
		g.leave("third")
		synctest.Wait()
		if g.in.by["fourth"] != 1 {
			t.Errorf("in are %v, want the fourth", g.in.by)
		}
		for g.in.by["greedy"] > 1 {
			g.leave("greedy")
		}
		synctest.Wait()
		if len(g.vain) != 0 {
			t.Errorf("in vain did still %v after places became free", g.vain)
		}
		pass(time.Second)
	})
}
