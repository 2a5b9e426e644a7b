package httpd

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// modelMetrics count what the language model of the settings is asked for. They have no series as long as it is asked nothing.
type modelMetrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	failures  *prometheus.CounterVec
	fallbacks *prometheus.CounterVec
}

func newModelMetrics() modelMetrics {
	return modelMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "context_manager_model_requests_total", Help: "Requests to the language model, by what it was to do.",
		}, []string{"task"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "context_manager_model_request_duration_seconds", Help: "How long requests to the language model took.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 3, 5, 7.5, 10},
		}, []string{"task"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "context_manager_model_failures_total", Help: "Requests to the language model without an answer that could be used, by what it was to do and what went wrong.",
		}, []string{"task", "kind"}),
		fallbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "context_manager_model_fallbacks_total", Help: "Judgements and summaries that what is built in gave in the language model's place.",
		}, []string{"task"}),
	}
}

// ModelAsked counts a request to the language model: what it was to do, what kind of failure it ended in, if any, and how
// long it took.
func (m *Metrics) ModelAsked(task, failure string, took time.Duration) {
	m.model.requests.WithLabelValues(task).Inc()
	m.model.durations.WithLabelValues(task).Observe(took.Seconds())
	if failure != "" {
		m.model.failures.WithLabelValues(task, failure).Inc()
	}
}

// ModelReplaced counts what was done in the language model's place.
func (m *Metrics) ModelReplaced(task string) { m.model.fallbacks.WithLabelValues(task).Inc() }
