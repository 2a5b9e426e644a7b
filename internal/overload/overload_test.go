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
		who    string
		n      int64
		want   bool
		usedUp bool // then
	}{{"a", 76, false, false}, {"a", 75, true, true}, {"a", 1, false, true}, {"b", 26, false, false}, {"b", 25, true, true}, {"c", 1, false, false}, {"", 1, false, false}} {
		if took := r.Take(step.who, step.n); took != step.want {
			t.Errorf("Take(%q, %d) = %t, want %t", step.who, step.n, took, step.want)
		}
		if usedUp := r.UsedUp(step.who, 1); usedUp != step.usedUp {
			t.Errorf("UsedUp(%q, 1) = %t after %d, want %t", step.who, usedUp, step.n, step.usedUp)
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
