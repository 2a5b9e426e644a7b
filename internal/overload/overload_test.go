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
	leave, err := g.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return leave
}

func TestGate(t *testing.T) {
	t.Parallel()
	g := overload.New(2, 0)
	first, second := enter(t, g), enter(t, g)
	if _, err := g.Enter(t.Context()); !errors.Is(err, overload.ErrFull) || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Enter() of a full gate = %v, want ErrFull", err)
	}
	first()
	first() // gives back one place, not two
	third := enter(t, g)
	if _, err := g.Enter(t.Context()); !errors.Is(err, overload.ErrFull) {
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
	if _, err := g.Enter(gone); !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Enter() = %v, want UNAVAILABLE since the request ended", err)
	}
	if _, err := g.Enter(t.Context()); !errors.Is(err, overload.ErrFull) {
		t.Errorf("Enter() = %v after its patience, want ErrFull", err)
	}
	var wait sync.WaitGroup
	errs := make(chan error, 2)
	for range 2 { // at most one of them may wait
		wait.Go(func() {
			leave, err := g.Enter(t.Context())
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
