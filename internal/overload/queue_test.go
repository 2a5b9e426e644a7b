package overload

import (
	"container/list"
	"testing"
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
