package httpd

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Every answer has the headers, whoever gives it; a handler may set others, for itself alone.
func TestSecure(t *testing.T) {
	t.Parallel()
	s := New(NewMetrics(), slog.New(slog.DiscardHandler))
	h := s.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/other":
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
			w.Header().Add("Referrer-Policy", "origin")
		case "/panic":
			panic("no answer")
		}
	}))
	for _, step := range []struct {
		path     string
		stopping bool
		status   int
		policy   string
	}{
		{"/other", false, 200, "cross-origin"}, {"/", false, 200, "same-origin"}, {"/panic", false, 500, "same-origin"}, {"/", true, 503, "same-origin"},
	} {
		s.draining.Store(step.stopping)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, step.path, nil))
		if w.Code != step.status || w.Header().Get("Cross-Origin-Resource-Policy") != step.policy {
			t.Errorf("%s: %d, %s, want %d, %s", step.path, w.Code, w.Header().Get("Cross-Origin-Resource-Policy"), step.status, step.policy)
		}
		for name, want := range secure {
			if got := w.Header()[name]; name != "Cross-Origin-Resource-Policy" && (len(got) == 0 || got[0] != want[0] || step.path != "/other" && len(got) > 1) {
				t.Errorf("%s: %s: %q, want %q", step.path, name, got, want)
			}
		}
	}
}
