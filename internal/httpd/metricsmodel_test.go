package httpd

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestModelMetrics(t *testing.T) {
	t.Parallel()
	m := NewMetrics()
	scrape := func() string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
	if strings.Contains(scrape(), "context_manager_model_") {
		t.Error("there are series of a model before one was asked")
	}
	m.ModelAsked("judge", "", 300*time.Millisecond)
	m.ModelAsked("judge", "TIMED_OUT", 10*time.Second)
	m.ModelAsked("summarise", "", time.Second)
	m.ModelReplaced("judge")
	text := scrape()
	for _, want := range []string{
		`context_manager_model_requests_total{task="judge"} 2`, `context_manager_model_requests_total{task="summarise"} 1`,
		`context_manager_model_failures_total{kind="TIMED_OUT",task="judge"} 1`, `context_manager_model_fallbacks_total{task="judge"} 1`,
		`context_manager_model_request_duration_seconds_sum{task="judge"} 10.3`,
		`context_manager_model_request_duration_seconds_bucket{task="judge",le="0.25"} 0`,
		`context_manager_model_request_duration_seconds_bucket{task="judge",le="0.5"} 1`,
		`context_manager_model_request_duration_seconds_bucket{task="judge",le="10"} 2`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("/metrics has no %q", want)
		}
	}
	if strings.Contains(text, `failures_total{kind="",`) {
		t.Error("a success counts as a failure")
	}
}
