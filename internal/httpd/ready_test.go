package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// health asks for health, as an administrator if so told.
type health struct {
	t       *testing.T
	server  *Server
	log     *buffer
	handler http.Handler
	broken  atomic.Value // of problem
	checks  atomic.Int64
}

type problem struct{ err error }

func newHealth(t *testing.T, remarks ...Remark) *health {
	h := &health{t: t, log: &buffer{}}
	h.broken.Store(problem{})
	h.server = New(NewMetrics(), slog.New(slog.NewTextHandler(h.log, nil)))
	h.handler = h.server.Health(Readiness{
		Check: func(context.Context) error {
			h.checks.Add(1)
			return h.broken.Load().(problem).err
		},
		Remarks: func() []Remark { return remarks },
		Trusted: func(r *http.Request) bool { return r.Header.Get("Authorization") == "admin" },
	})
	return h
}

func (h *health) get(path, who string) (int, string) {
	h.t.Helper()
	w := newRecorder()
	r, err := http.NewRequestWithContext(h.t.Context(), "GET", path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", who)
	h.handler.ServeHTTP(w, r)
	return w.status, w.body.String()
}

func TestHealth(t *testing.T) {
	t.Parallel()
	secret := fault.New(fault.Unavailable, "could not open /secret/place")
	remark := Remark{Word: "a remark", Reason: "of a secret kind"}
	for name, test := range map[string]struct {
		broken         error
		draining       bool
		status         int
		told, trusted  string
		onRecord, lack string
	}{
		"ready":        {nil, false, 200, "ready\na remark\n", "ready\na remark: of a secret kind\n", "", "not ready"},
		"the database": {secret, false, 503, "the database does not answer\n", "the database does not answer: could not open /secret/place\n", "/secret/place", "none"},
		"with a word":  {&Unready{"a word", secret}, false, 503, "a word\n", "a word: could not open /secret/place\n", "/secret/place", "none"},
		"no fault":     {errors.New("secret"), false, 503, "the database does not answer\n", "the database does not answer\n", "secret", "none"},
		"stopping":     {secret, true, 503, "stopping\n", "stopping\n", "", "not ready"},
	} {
		h := newHealth(t, remark)
		h.broken.Store(problem{test.broken})
		h.server.draining.Store(test.draining)
		if status, text := h.get("/healthz", ""); status != 200 || text != "alive\n" {
			t.Errorf("%s: GET /healthz = %d %q, want 200", name, status, text)
		}
		if status, text := h.get("/readyz", ""); status != test.status || text != test.told {
			t.Errorf("%s: GET /readyz = %d %q, want %d %q", name, status, text, test.status, test.told)
		}
		if status, text := h.get("/readyz", "admin"); status != test.status || text != test.trusted {
			t.Errorf("%s: GET /readyz by one who is trusted = %d %q, want %d %q", name, status, text, test.status, test.trusted)
		}
		if log := h.log.String(); !strings.Contains(log, test.onRecord) || strings.Contains(log, test.lack) {
			t.Errorf("%s: the log is %q, want %q in it, and not %q", name, log, test.onRecord, test.lack)
		}
	}
}

// However many ask, there is one check a second, and a line of the log for a change, or for a minute.
func TestReadinessIsCheckedOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHealth(t)
		for second, want := range []struct {
			broken error
			status int
			lines  int // so far
		}{
			{nil, 200, 0}, {errors.New("gone"), 503, 1}, {errors.New("gone elsewhere"), 503, 1},
			{&Unready{"another word", errors.New("gone")}, 503, 2}, {nil, 200, 3}, {nil, 200, 3}, {errors.New("gone"), 503, 4},
		} {
			h.broken.Store(problem{want.broken})
			var wait sync.WaitGroup
			for range 100 {
				wait.Go(func() {
					if status, _ := h.get("/readyz", ""); status != want.status {
						t.Errorf("in second %d: %d, want %d", second, status, want.status)
					}
				})
			}
			wait.Wait()
			if got := h.checks.Load(); got != int64(second+1) {
				t.Errorf("in second %d: %d checks, want %d", second, got, second+1)
			}
			if got := strings.Count(h.log.String(), "\n"); got != want.lines {
				t.Errorf("in second %d: %d lines, want %d:\n%s", second, got, want.lines, h.log)
			}
			time.Sleep(checkEvery)
		}
		for range 10 * 60 {
			h.get("/readyz", "")
			time.Sleep(checkEvery)
		}
		if got := strings.Count(h.log.String(), "\n"); got < 4+9 || got > 4+11 {
			t.Errorf("after 10 minutes: %d lines, want about 10 more than 4", got)
		}
	})
}

// Who asks while a check is under way waits for that one, and no longer than they like.
func TestReadinessWaitsForTheCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		s := New(NewMetrics(), slog.New(slog.DiscardHandler))
		h := s.Health(Readiness{Check: func(ctx context.Context) error {
			checks.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}})
		ask := func(limit time.Duration) int {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			w := newRecorder()
			r, err := http.NewRequestWithContext(ctx, "GET", "/readyz", nil)
			if err != nil {
				t.Error(err)
				return 0
			}
			h.ServeHTTP(w, r)
			return w.status
		}
		began := time.Now()
		if status := ask(time.Millisecond); status != 503 || time.Since(began) > time.Millisecond {
			t.Errorf("one in a hurry: %d after %v, want 503 in time", status, time.Since(began))
		}
		time.Sleep(checkEvery + time.Millisecond) // it is old, and still under way
		if status := ask(time.Hour); status != 503 || time.Since(began) > checkLimit || checks.Load() != 1 {
			t.Errorf("one who waits: %d after %v and %d checks, want 503 after %v and one", status, time.Since(began), checks.Load(), checkLimit)
		}
	})
}
