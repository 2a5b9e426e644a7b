// Package httpd is the HTTP server around the handlers: time-outs, one line of the log a request, metrics, health, and
// stopping in order. What is served is not its business.
package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
	"golang.org/x/time/rate"
)

// limits are the time-outs of every connection.
type limits struct {
	header time.Duration // for a request's headers to come in
	body   time.Duration // for a request's body to come in
	write  time.Duration // for a client to take what is written to it at once
	idle   time.Duration // between requests
	drain  time.Duration // for requests to finish once the server stops
	abort  time.Duration // for handlers to notice that their time is over, after that
}

// maxHeaderBytes is how large a request's headers may be.
const maxHeaderBytes = 16 << 10

func defaultLimits() limits {
	return limits{
		header: 5 * time.Second, body: 30 * time.Second, write: 30 * time.Second, idle: 60 * time.Second,
		drain: 10 * time.Second, abort: 2 * time.Second,
	}
}

// Server serves a handler. Make it with New.
type Server struct {
	log     *slog.Logger
	metrics *Metrics
	limits  limits

	draining   atomic.Bool
	streams    context.Context // ends when streams have to
	endStreams context.CancelFunc
	running    sync.WaitGroup // handlers, those of hijacked connections included

	proxies   []netip.Prefix
	refused   tally         // for want of room
	strangers tally         // requests of nobody who is known
	lines     *rate.Limiter // of the log, for requests of strangers that are not refused
}

// What is counted together in the log.
const (
	tooMuch = "refused"

	unauthenticated = "unauthenticated"
	rateLimited     = "limited"
	others          = "others"

	connectionsBeyond = "connections"
)

// New makes a server.
func New(metrics *Metrics, log *slog.Logger) *Server {
	s := &Server{log: log, metrics: metrics, limits: defaultLimits()}
	s.refused.tell = func(counts []slog.Attr) {
		log.LogAttrs(context.Background(), slog.LevelWarn, "more is asked than can be done", counts...)
	}
	s.strangers.tell = func(counts []slog.Attr) {
		log.LogAttrs(context.Background(), slog.LevelInfo, "requests of strangers", counts...)
	}
	s.lines = rate.NewLimiter(strangerLines, strangerBurst)
	s.streams, s.endStreams = context.WithCancel(context.Background())
	return s
}

// Trust names addresses of proxies, which may have more connections than others. It must be called before Run.
func (s *Server) Trust(proxies []netip.Prefix) { s.proxies = proxies }

// Run serves a handler on a listener until the context ends, then stops in order: new requests are refused, streams are ended,
// and the requests that are under way may finish, for a while. When Run returns, no handler runs, save such as do not
// heed their context. The error is nil if nothing was cut short. Run may be called once.
func (s *Server) Run(ctx context.Context, listener net.Listener, handler http.Handler) error {
	defer s.refused.flush()
	defer s.strangers.flush()
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	server := &http.Server{
		Handler:           s.observe(handler),
		ReadHeaderTimeout: s.limits.header,
		IdleTimeout:       s.limits.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	failed := make(chan error, 1)
	listener = s.connections(listener, mostConnections(mostFiles()))
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		s.endStreams()
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.endStreams()
	return s.drain(server, abort)
}

// connections bounds those of a listener.
func (s *Server) connections(listener net.Listener, most int) *connections {
	return &connections{
		Listener: listener, most: most, of: map[netip.Addr]int{}, counted: func(change int) { s.metrics.connections.Add(float64(change)) },
		refused: func() { s.metrics.refusedConnections.Inc(); s.refused.add(connectionsBeyond) },
		proxies: func(from netip.Addr) bool {
			return from.IsLoopback() || slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(from) })
		},
	}
}

func (s *Server) drain(server *http.Server, abort context.CancelFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.drain)
	defer cancel()
	err := server.Shutdown(ctx)
	if err == nil {
		err = s.wait(ctx) // for hijacked connections, which Shutdown does not know
	}
	if err == nil {
		return nil
	}
	abort()
	_ = server.Close()
	ctx, cancel = context.WithTimeout(context.Background(), s.limits.abort)
	defer cancel()
	return errors.Join(errors.New("some requests did not finish in time"), s.wait(ctx))
}

func (s *Server) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

// Listen opens the address to serve on; the error says what to do.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable,
			"cannot listen on %s: %v; stop what uses it, or set ADDR to another address", addr, err)
	}
	return listener, nil
}
