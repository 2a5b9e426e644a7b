package chaos

import (
	"slices"
	"testing"
)

// What is lost, twice there, out of order or somewhere else is told.
func TestJudgeEvents(t *testing.T) {
	t.Parallel()
	senders := []*sender{newSender(0, 40, nil, nil), newSender(1, 40, nil, nil)}
	var log []found
	for _, one := range senders {
		for i := range one.events {
			e := &one.events[i]
			e.hash = hashOf(e.Content)
			log = append(log, found{e.hash, e.session(), e.Content})
		}
	}
	slices.SortStableFunc(log, func(a, b found) int { // as the log is read, with senders of one thread by turns
		switch {
		case a.Session < b.Session:
			return -1
		case a.Session > b.Session:
			return 1
		}
		return 0
	})
	for _, test := range []struct {
		name                      string
		change                    func(log []found) []found
		lost, doubled, disordered int
	}{
		{name: "all is well", change: func(log []found) []found { return log }},
		{name: "one is missing", change: func(log []found) []found { return log[1:] }, lost: 1},
		{name: "one is twice there", change: func(log []found) []found { return append(log, log[3]) }, doubled: 1},
		{name: "one was never sent", change: func(log []found) []found { return append(log, found{Content: "x"}) }, doubled: 1},
		{name: "two have changed places", change: func(log []found) []found { log[0], log[1] = log[1], log[0]; return log }, disordered: 1},
		{name: "one is under another hash", change: func(log []found) []found { log[0].Hash = "x"; return log }, lost: 1},
		{name: "one is in another thread", change: func(log []found) []found { log[0].Session = "x"; return log }, lost: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := judgeEvents(senders, test.change(slices.Clone(log)))
			if a.lost != test.lost || a.doubled != test.doubled || a.disordered != test.disordered || (len(a.problems) > 0) != (test.name != "all is well") {
				t.Errorf("judged %+v", a)
			}
		})
	}
}
