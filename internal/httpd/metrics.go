package httpd

import (
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the server's counters, in Prometheus' form. Labels are routes, methods, codes and kinds: never what a
// client wrote.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	inFlight   prometheus.Gauge
	operations *prometheus.CounterVec
	errors     *prometheus.CounterVec
}

// NewMetrics makes counters of their own, besides those of the Go runtime and the process.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_request_duration_seconds", Help: "How long requests took; streams count until they end.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_requests_in_flight", Help: "Requests being answered, open streams included.",
		}),
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "graphql_operations_total", Help: "GraphQL operations begun.",
		}, []string{"kind"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "graphql_errors_total", Help: "GraphQL errors given.",
		}, []string{"code"}),
	}
	m.registry.MustRegister(m.requests, m.durations, m.inFlight, m.operations, m.errors,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *Metrics) request(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(known(method), route, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(route).Observe(took.Seconds())
}

// known keeps invented methods out.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodPatch:
		return method
	default:
		return "other"
	}
}

// AddPool adds the statistics of the database's pool.
func (m *Metrics) AddPool(pool *pgxpool.Pool) {
	gauge := func(name, help string, value func(*pgxpool.Stat) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return value(pool.Stat()) }))
	}
	counter := func(name, help string, value func(*pgxpool.Stat) float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return value(pool.Stat()) }))
	}
	gauge("db_pool_connections_max", "Connections the pool may have.",
		func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) })
	gauge("db_pool_connections_open", "Connections the pool has.",
		func(s *pgxpool.Stat) float64 { return float64(s.TotalConns()) })
	gauge("db_pool_connections_in_use", "Connections that somebody holds.",
		func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) })
	counter("db_pool_acquires_total", "Connections handed out.",
		func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) })
	counter("db_pool_waits_total", "Connections handed out after a wait for one.",
		func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) })
	counter("db_pool_acquire_seconds_total", "Time spent to get connections.",
		func(s *pgxpool.Stat) float64 { return s.AcquireDuration().Seconds() })
}
