package db

import (
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// entered tells who of those who asked has their turn.
type entered struct {
	t     *testing.T
	turns turns
	asked map[string]*turn
}

func hashOfName(name string) (who chain.Hash) {
	if name[0] != '-' { // others see all
		who = chain.Sum([]byte(name[:1]))
	}
	return who
}

func (e *entered) ask(name string, want bool) {
	e.t.Helper()
	mine, err := e.turns.enter(hashOfName(name))
	if (err == nil) != want || err != nil && fault.CodeOf(err) != fault.Unavailable {
		e.t.Fatalf("%s: %v, want it refused: %t", name, err, !want)
	}
	e.asked[name] = mine
}

func (e *entered) end(name string) {
	delete(e.asked, name)
	e.turns.leave(hashOfName(name))
}

func (e *entered) want(names ...string) {
	e.t.Helper()
	var running int
	for name, mine := range e.asked {
		if mine == nil {
			continue
		}
		select {
		case <-mine.ready:
			running++
		default:
			continue
		}
		found := false
		for _, want := range names {
			found = found || want == name
		}
		if !found {
			e.t.Errorf("%s runs, want %v", name, names)
		}
	}
	if running != len(names) {
		e.t.Errorf("%d run, want %v", running, names)
	}
}

// Nobody's second check runs before another's first, and the queue's last places are for those who have none there.
func TestTurns(t *testing.T) {
	t.Parallel()
	e := &entered{t: t, asked: map[string]*turn{}}
	for _, name := range []string{"a1", "a2", "a3", "a4"} { // one runs, though there is a second place
		e.ask(name, true)
	}
	e.want("a1")
	e.ask("a5", false)
	e.ask("b1", true)
	e.want("a1", "b1")
	for _, name := range []string{"b2", "b3", "b4"} {
		e.ask(name, true)
	}
	e.ask("c1", true)
	e.ask("c2", false) // six waited
	e.ask("d1", true)
	e.ask("e1", false) // eight do
	e.ask("-1", true)
	e.end("b1") // not to a2, whose player has one at work, nor to b2
	e.want("a1", "c1")
	e.end("c1")
	e.want("a1", "b2")
	e.end("a1")
	e.want("d1", "b2")
	e.end("d1")
	e.want("a2", "b2")
	e.end("a2") // before a3
	e.want("-1", "b2")
	if !e.turns.giveUp(e.asked["b3"]) || e.turns.giveUp(e.asked["-1"]) {
		t.Error("who waits cannot give up, or who runs can")
	}
	e.end("b2")
	e.want("-1", "a3")
	e.end("a3")
	e.want("-1", "b4")
	e.end("b4")
	e.want("-1", "a4")
	e.end("a4")
	e.end("-1")
	for _, name := range []string{"-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "-10", "-11"} { // may have all
		e.ask(name, true)
	}
	e.want("-2", "-3")
	e.ask("-12", false)
	e.ask("a6", true)
	if n := len(e.turns.queue); n != 9 || e.turns.waiting.players.all != 1 || e.turns.running.all != 2 {
		t.Errorf("%d wait, %+v", n, &e.turns.waiting)
	}
}
