package overload_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/overload"
)

func enter(t *testing.T, g *overload.Gate) (leave func()) {
	t.Helper()
	leave, err := g.Enter(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return leave
}

func TestGate(t *testing.T) {
	t.Parallel()
	g := overload.New(2, 0)
	first, second := enter(t, g), enter(t, g)
	if _, err := g.Enter(t.Context(), ""); !errors.Is(err, overload.ErrFull) || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Enter() of a full gate = %v, want ErrFull", err)
	}
	first()
	first() // gives back one place, not two
	third := enter(t, g)
	if _, err := g.Enter(t.Context(), ""); !errors.Is(err, overload.ErrFull) {
		t.Errorf("Enter() = %v after a place was given back twice, want ErrFull", err)
	}
	second()
	third()
	var none *overload.Gate
	enter(t, none)()
}

// Who waits gets the place that becomes free, or goes away; the queue is bounded.
func TestGateQueue(t *testing.T) {
	t.Parallel()
	g := overload.New(1, 1)
	leave := enter(t, g)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Enter(gone, ""); !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Enter() = %v, want UNAVAILABLE since the request ended", err)
	}
	if _, err := g.Enter(t.Context(), ""); !errors.Is(err, overload.ErrFull) {
		t.Errorf("Enter() = %v after its patience, want ErrFull", err)
	}
	var wait sync.WaitGroup
	errs := make(chan error, 2)
	for range 2 { // at most one of them may wait
		wait.Go(func() {
			leave, err := g.Enter(t.Context(), "")
			if err == nil {
				defer leave()
			}
			errs <- err
		})
	}
	if err := <-errs; !errors.Is(err, overload.ErrFull) { // the place is taken
		t.Errorf("Enter() = %v, want ErrFull", err)
	}
	leave()
	wait.Wait()
}

// The last quarter of the places, and of the queue, is for those who have less than a quarter: of one gate, one who takes all
// they can leaves others theirs.
func TestGateShares(t *testing.T) {
	t.Parallel()
	g := overload.New(8, 4)
	var left []func()
	all := func(who string, tries int) (in int) {
		for range tries {
			if leave, err := g.Enter(t.Context(), who); err == nil {
				left = append(left, leave)
				in++
			}
		}
		return in
	}
	if n := all("greedy", 8); n != 6 {
		t.Errorf("one gets %d of 8 places, want 6", n)
	}
	if n := all("another", 1); n != 1 {
		t.Errorf("another gets %d, want 1", n)
	}
	var wait sync.WaitGroup
	let := make(chan func(), 10)
	ask := func(who string) {
		wait.Go(func() {
			leave, err := g.Enter(t.Context(), who)
			if err == nil {
				let <- leave
			}
		})
	}
	for range 6 { // who waits before others, but has their share
		ask("greedy")
	}
	if n := all("another", 1); n != 1 {
		t.Errorf("another gets %d more while the first waits, want 1", n)
	}
	if n := all("a third", 1) + all("", 1); n != 0 {
		t.Errorf("of a full gate, %d get a place, want none", n)
	}
	wait.Wait()
	for _, leave := range left {
		leave()
	}
	for len(let) > 0 {
		(<-let)()
	}
	if n := all("", 8); n != 8 {
		t.Errorf("nobody in particular gets %d of 8 places, want all: places were not given back", n)
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	r := overload.NewRoom(100)
	for _, step := range []struct {
		who  string
		n    int64
		want bool
	}{{"a", 76, false}, {"a", 75, true}, {"a", 1, false}, {"b", 26, false}, {"b", 25, true}, {"c", 1, false}, {"", 1, false}} {
		if took := r.Take(step.who, step.n); took != step.want {
			t.Errorf("Take(%q, %d) = %t, want %t", step.who, step.n, took, step.want)
		}
	}
	r.Give("b", 25)
	if !r.Take("", 25) {
		t.Error("nobody in particular may not have what is left")
	}
	r.Give("a", 75)
	if r.Give("", 25); !r.Take("", 100) {
		t.Error("what was given back is gone")
	}
}

// Who was refused more than they have has to set it aside before they ask again, until they have given back everything or
// need less.
func TestRoomSetAside(t *testing.T) {
	t.Parallel()
	r := overload.NewRoom(100)
	setAside := func(who string, want int64, ok bool) {
		t.Helper()
		if n, got := r.SetAside(who); n != want || got != ok {
			t.Errorf("SetAside(%q) = %d, %t, want %d, %t", who, n, got, want, ok)
		}
	}
	settle := func(who string, aside, n int64, want bool) {
		t.Helper()
		if got := r.Settle(who, aside, n); got != want {
			t.Errorf("Settle(%q, %d, %d) = %t, want %t", who, aside, n, got, want)
		}
	}
	setAside("a", 0, true)
	if !r.Take("a", 60) || r.Take("a", 30) {
		t.Fatal("a has another share than three quarters")
	}
	setAside("a", 0, false)
	setAside("b", 0, true)
	if !r.Take("b", 25) {
		t.Error("somebody else has no room")
	}
	setAside("b", 0, true) // was refused nothing, though there is no room
	settle("b", 0, 0, true)
	r.Give("b", 25)
	r.Give("a", 30)
	setAside("a", 30, true)
	setAside("a", 0, false)
	settle("a", 30, 45, true)
	setAside("a", 0, false)
	r.Give("a", 45)
	setAside("a", 45, true)
	settle("a", 45, 0, true) // it was small: next time less is set aside
	setAside("a", 22, true)
	settle("a", 22, 90, false)
	setAside("a", 0, false)
	r.Give("a", 30) // everything
	setAside("a", 0, true)
	if r.Take("b", 90) || !r.Take("", 100) {
		t.Error("something is taken by nobody")
	}
	setAside("b", 0, true) // has nothing to give back
}

func TestHandler(t *testing.T) {
	t.Parallel()
	g := overload.New(1, 0)
	served := 0
	h := g.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		return w
	}
	if w := ask(); w.Code != http.StatusOK {
		t.Errorf("status = %d, want 200", w.Code)
	}
	leave := enter(t, g)
	if w := ask(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != overload.RetryAfter || served != 1 {
		t.Errorf("of a full gate: %d, Retry-After %q, served %d; want 503, %s, and only the first", w.Code, w.Header().Get("Retry-After"), served, overload.RetryAfter)
	}
	leave()
	if w := ask(); w.Code != http.StatusOK || served != 2 {
		t.Errorf("then %d, served %d, want 200 and 2", w.Code, served)
	}
}
