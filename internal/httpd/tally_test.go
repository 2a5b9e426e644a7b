package httpd

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever is not known cannot fill the disk with lines of the log; all they sent is counted.
func TestStrangersGetFewLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		lines   int // at most, of 10,000 requests within 10 s
		counted string
	}{
		"no token":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 12, "unauthenticated="},
		"too often":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 12, "limited="},
		"what is open": {func(http.ResponseWriter, *http.Request) {}, strangerBurst + 10 + 12, "others="},
		"no room": {func(w http.ResponseWriter, r *http.Request) {
			Quiet(r.Context())
			w.WriteHeader(503)
		}, 12, "refused="},
		"by one who is known": {func(_ http.ResponseWriter, r *http.Request) { Known(r.Context()) }, 10_000, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := &buffer{}
			s := New(NewMetrics(), slog.New(slog.NewTextHandler(log, nil)))
			h := s.observe(test.handler)
			for range 10_000 {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
				time.Sleep(time.Millisecond)
			}
			time.Sleep(tallyEvery)
			synctest.Wait()
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			if len(lines) > test.lines || len(lines) < 10 {
				t.Errorf("%s: %d lines, want %d at most, and 10 at least", name, len(lines), test.lines)
			}
			total := 0
			for _, line := range lines {
				if strings.Contains(line, "msg=request ") {
					total++
				} else if _, n, ok := strings.Cut(line, test.counted); ok {
					total += number(n)
				}
			}
			if total != 10_000 {
				t.Errorf("%s: %d requests are in the log, want 10000", name, total)
			}
		})
	}
}

func number(text string) (n int) {
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}
