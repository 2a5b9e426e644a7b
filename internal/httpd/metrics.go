package httpd

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// liveHeap is what of the heap was in use at the last collection, without what has become garbage since.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

// Metrics are the server's counters, in Prometheus' form. Labels are routes, methods, codes and kinds: never what a
// client wrote.
type Metrics struct {
	registry           *prometheus.Registry
	requests           *prometheus.CounterVec
	durations          *prometheus.HistogramVec
	inFlight           prometheus.Gauge
	connections        prometheus.Gauge
	refusedConnections prometheus.Counter
	operations         *prometheus.CounterVec
	errors             *prometheus.CounterVec
	sealLag            prometheus.Histogram
	model              modelMetrics
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
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_connections", Help: "Connections that are open, WebSockets included.",
		}),
		refusedConnections: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "http_connections_refused_total", Help: "Connections that were closed at once: there were as many as the process has files for, or one address had three quarters of these.",
		}),
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "graphql_operations_total", Help: "GraphQL operations begun.",
		}, []string{"kind"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "graphql_errors_total", Help: "GraphQL errors given.",
		}, []string{"code"}),
		sealLag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "context_manager_seal_lag_seconds", Help: "Of each message that this server sealed, how long at most it had been committed.",
			Buckets: []float64{.025, .05, .1, .2, .3, .4, .5, .75, 1, 2, 5, 10, 30},
		}),
		model: newModelMetrics(),
	}
	m.registry.MustRegister(m.requests, m.durations, m.inFlight, m.connections, m.refusedConnections, m.operations, m.errors, m.sealLag,
		m.model.requests, m.model.durations, m.model.failures, m.model.fallbacks,
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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

// AddPool adds the statistics of the database's pool, which is another one after the database was out of reach.
func (m *Metrics) AddPool(pool func() *pgxpool.Pool) {
	gauge := func(name, help string, value func(*pgxpool.Stat) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return value(pool().Stat()) }))
	}
	counter := func(name, help string, value func(*pgxpool.Stat) float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return value(pool().Stat()) }))
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

// SealLag counts messages that were sealed, with how long at most they had been committed.
func (m *Metrics) SealLag(messages int64, lag time.Duration) {
	for range messages {
		m.sealLag.Observe(lag.Seconds())
	}
}

// AddSeal adds how the seal stands.
func (m *Metrics) AddSeal(state func() (size, waiting int64, refused bool)) {
	gauge := func(name, help string, value func(size, waiting int64, refused bool) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return value(state()) }))
	}
	gauge("context_manager_seal_size", "Messages that the newest checkpoint covers.",
		func(size, _ int64, _ bool) float64 { return float64(size) })
	gauge("context_manager_seal_waiting", "Messages that wait to be sealed.",
		func(_, waiting int64, _ bool) float64 { return float64(waiting) })
	gauge("context_manager_seal_refused", "1 while the tree does not extend what was signed before, and nothing is signed.",
		func(_, _ int64, refused bool) float64 {
			if refused {
				return 1
			}
			return 0
		})
}

// AddProblems adds what is wrong: 1 for each code that is, 0 for those that are not. What cannot be found out in time is left out.
func (m *Metrics) AddProblems(codes []string, wrong func(context.Context) map[string]bool) {
	m.registry.MustRegister(&problemCollector{codes, wrong})
}

var problemDesc = prometheus.NewDesc("context_manager_problem", "1 while something is wrong, as /readyz tells and the API's overview.", []string{"code"}, nil)

type problemCollector struct {
	codes []string
	wrong func(context.Context) map[string]bool
}

func (c *problemCollector) Describe(to chan<- *prometheus.Desc) { to <- problemDesc }

func (c *problemCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), checkLimit)
	defer cancel()
	wrong := c.wrong(ctx)
	for _, code := range c.codes {
		value := 0.0
		if wrong[code] {
			value = 1
		}
		to <- prometheus.MustNewConstMetric(problemDesc, prometheus.GaugeValue, value, code)
	}
}

// windowHelp says what each figure of windows is. They are those of the specification UC-SYS-003, of the last day, and all
// gauges: what is older than a day leaves them again.
var windowHelp = map[string]string{
	"context_window_usage_avg":    "Mean share of the capacity that context windows used after an operation.",
	"context_window_usage_p95":    "What 95 % of these do not exceed.",
	"compression_triggered_count": "How often a window was compressed.",
	"compression_ratio_avg":       "How many times smaller it became.",
	"compression_latency_p95":     "Milliseconds that 95 % of the compressions did not exceed.",
	"poisoning_attempts_blocked":  "How often content was kept out that contradicts a verified record.",
	"distraction_mitigations":     "How often too long a history was summarised.",
	"confusion_mitigations":       "How often too many tools were put aside.",
	"clashes_resolved":            "How often an item made way for one that contradicts it.",
	"context_quality_score_avg":   "Mean quality of what was written.",
	"relevance_score_avg":         "Mean relevance.",
	"accuracy_score_avg":          "Mean accuracy.",
	"scratchpad_writes":           "Entries that were put on scratchpads.",
	"scratchpad_reads":            "Entries that were read or injected.",
	"rag_over_tools_calls":        "How often tools were searched for.",
	"window_critical_exceeded":    "How often a write did not fit, whatever was compressed.",
}

// AddWindows adds how context windows do. What cannot be found out in time is left out.
func (m *Metrics) AddWindows(figures func(context.Context) (map[string]float64, error)) {
	c := &windowCollector{figures: figures, descs: map[string]*prometheus.Desc{}}
	for name, help := range windowHelp {
		c.descs[name] = prometheus.NewDesc(name, help+" Of the last day.", nil, nil)
	}
	m.registry.MustRegister(c)
}

type windowCollector struct {
	figures func(context.Context) (map[string]float64, error)
	descs   map[string]*prometheus.Desc
}

func (c *windowCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		to <- desc
	}
}

func (c *windowCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), embeddingLimit)
	defer cancel()
	figures, err := c.figures(ctx)
	if err != nil {
		return
	}
	for name, desc := range c.descs {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, figures[name])
	}
}

// EmbeddingCount says how far the log is embedded with a provider's model, and what this server did for it.
type EmbeddingCount struct {
	Model                                    string
	Outstanding, Refused, Embedded, Failures int64
}

// AddEmbeddings adds how the log is embedded. What cannot be counted is left out.
func (m *Metrics) AddEmbeddings(counts func(context.Context) ([]EmbeddingCount, error)) {
	m.registry.MustRegister(&embeddingCollector{counts})
}

// embeddingLimit is how long a scrape waits for the database.
const embeddingLimit = 2 * time.Second

var (
	embeddingOutstanding = embeddingDesc("outstanding", "Messages and records that wait for their vectors of a provider's model.")
	embeddingRefused     = embeddingDesc("refused", "Messages and records that the provider does not take.")
	embeddingEmbedded    = embeddingDesc("embedded_total", "Messages and records that this server embedded.")
	embeddingFailures    = embeddingDesc("failures_total", "Failures of the provider that this server met while embedding.")
)

func embeddingDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("context_manager_embedding_"+name, help, []string{"model"}, nil)
}

type embeddingCollector struct {
	counts func(context.Context) ([]EmbeddingCount, error)
}

func (c *embeddingCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{embeddingOutstanding, embeddingRefused, embeddingEmbedded, embeddingFailures} {
		to <- desc
	}
}

func (c *embeddingCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), embeddingLimit)
	defer cancel()
	counts, err := c.counts(ctx)
	if err != nil {
		return
	}
	for _, one := range counts {
		to <- prometheus.MustNewConstMetric(embeddingOutstanding, prometheus.GaugeValue, float64(one.Outstanding), one.Model)
		to <- prometheus.MustNewConstMetric(embeddingRefused, prometheus.GaugeValue, float64(one.Refused), one.Model)
		to <- prometheus.MustNewConstMetric(embeddingEmbedded, prometheus.CounterValue, float64(one.Embedded), one.Model)
		to <- prometheus.MustNewConstMetric(embeddingFailures, prometheus.CounterValue, float64(one.Failures), one.Model)
	}
}
