package db_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// Whoever writes what a message says to windows, on two servers, while it is erased or put into quarantine: afterwards nothing of it
// is anywhere in windows, or, in quarantine, in none. Whatever was done before, at the same time and after.
func TestWindowsWhileTheirSourceGoes(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(t testing.TB, store *db.DB, m chain.Hash){
		"erased":        func(t testing.TB, store *db.DB, m chain.Hash) { mustErase(t, store, m) },
		"in quarantine": func(t testing.TB, store *db.DB, m chain.Hash) { mustQuarantine(t, store, m) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, url := open(t)
			servers, conn := []*db.DB{one, openURL(t, url)}, superuser(t, url)
			for round := range 6 {
				word := fmt.Sprintf("xylographer%d", round)
				target := mustAppend(t, one, from(ana, "a", fmt.Sprintf("The code %d of the safe is %s.", round, word)))[0].Hash
				tellers := newTellers(t, servers, &target, word)
				var work sync.WaitGroup
				for i := range 4 {
					work.Go(func() { tellers.work(t, i) })
				}
				for range 30 {
					<-tellers.told
				}
				go func() {
					for range tellers.told { // they go on
					}
				}()
				away(t, one, target)
				tellers.gone.Store(true)
				work.Wait()
				close(tellers.told)
				if name == "erased" {
					for _, tables := range tablesWith(t, conn, map[string]string{"the word": word}) {
						t.Errorf("round %d: what was erased is left in %s", round, strings.Join(tables, ", "))
					}
				}
				if n := value[int](t, conn, "SELECT count(*) FROM memory.window_items WHERE source = $1 OR content ~ $2", target.String(), word); n != 0 {
					t.Errorf("round %d: %d items are left", round, n)
				}
				if n := value[int](t, conn, "SELECT count(*) FROM memory.windows WHERE used <> memory.window_used(id)"); n != 0 {
					t.Errorf("round %d: %d windows hold something else than they say", round, n)
				}
				for _, store := range servers {
					for _, id := range tellers.windows {
						if w, err := store.Window(t.Context(), id); err != nil || strings.Contains(windowText(w), word) {
							t.Errorf("round %d: a server shows %+v, %v", round, w, err)
						}
					}
				}
			}
		})
	}
}

// tellers put what a message says wherever windows have room for it.
type tellers struct {
	servers []*db.DB
	windows []string
	segment string
	source  *chain.Hash
	word    string
	told    chan struct{} // each time that something was done
	gone    atomic.Bool   // the message is
}

func newTellers(t *testing.T, servers []*db.DB, source *chain.Hash, word string) *tellers {
	t.Helper()
	s := &tellers{servers: servers, source: source, word: word, told: make(chan struct{})}
	for range 2 {
		w, err := servers[0].As(ana).CreateWindow(t.Context(), db.NewWindow{Name: "w", Agent: ana, Capacity: 1000})
		if err != nil {
			t.Fatal(err)
		}
		s.windows = append(s.windows, w.ID)
	}
	segment, err := servers[0].As(ana).CreateSegment(t.Context(), "s", slices.Clone(s.windows))
	if err != nil {
		t.Fatal(err)
	}
	s.segment = segment.ID
	return s
}

// work goes on until some time after the message has gone.
func (s *tellers) work(t *testing.T, number int) {
	after := 0
	for n := 0; after < 5; n++ {
		if s.gone.Load() {
			after++
		}
		err := s.one(t, number, n)
		var f *fault.Error
		switch {
		case err == nil && after == 0:
			s.told <- struct{}{}
		case err == nil:
		case errors.As(err, &f) && slices.Contains([]fault.Code{fault.BadUserInput, fault.NotFound, fault.ContentRejected, fault.ContextWindowExceeded, fault.Conflict, fault.Unavailable}, f.Code):
		default:
			t.Errorf("teller %d: %v", number, err)
			return
		}
	}
}

// one does one thing of all that may bring a text into a window, or from one place of it to another.
func (s *tellers) one(t *testing.T, number, n int) error {
	ctx, store, id := t.Context(), s.servers[number%2], s.windows[rand.IntN(len(s.windows))]
	view := store.As(ana)
	draft := window.Draft{Type: window.UserMessage, Content: fmt.Sprintf("Somebody (%d) said %d times that the %s has gone home by train.", number, n, s.word)}
	switch rand.IntN(10) {
	case 0:
		_, err := view.CompressWindow(ctx, id, 0.1, ana)
		return err
	case 1:
		_, err := view.WriteToSegment(ctx, s.segment, id, draft, s.source, ana)
		return err
	case 2:
		entries, err := view.Scratchpad(ctx, id, db.Page[string]{Limit: 1})
		if err == nil && len(entries.Items) > 0 {
			_, err = view.InjectFromScratchpad(ctx, id, entries.Items[0].Value.ID, ana)
		}
		return err
	case 3: // what was rejected, and is let in all the same
		written, err := view.WriteContext(ctx, id, window.Draft{Type: window.Knowledge, Content: s.word}, s.source, ana)
		if err == nil {
			_, err = office(store).Overrule(ctx, written.Operation.ID, "it is so", boss.Player)
		}
		return err
	case 4:
		w, err := view.Window(ctx, id)
		if err == nil && len(w.Items) > 0 {
			_, err = view.RemoveFromWindow(ctx, id, []string{w.Items[0].ID}, ana)
		}
		return err
	case 5: // what the newer of two takes the place of
		draft.Key = "slot"
	case 6:
		draft.Content = strings.Repeat(draft.Content+" ", 60) // does not fit
	}
	_, err := view.WriteContext(ctx, id, draft, s.source, ana)
	return err
}
