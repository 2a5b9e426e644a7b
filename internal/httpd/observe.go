package httpd

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// observe serves each request under time-outs, counted, and with one line in the log when it is done.
func (s *Server) observe(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Done()
		start, facts := time.Now(), &facts{metrics: s.metrics}
		maps.Copy(w.Header(), secure)
		ctx, end := s.context(r)
		defer end()
		r = r.WithContext(context.WithValue(ctx, factsKey{}, facts))
		in := limitBody(w, r, s.limits.body)
		out := newResponse(w, s.limits.write, in.unread)
		defer func() {
			out.finish()
			in.end(out.code())
		}()
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		defer func() { s.done(r, start, in, out, facts) }() // also when the handler panics
		if s.draining.Load() && !isHealth(r) {
			out.Header().Set("Connection", "close")
			say(out, http.StatusServiceUnavailable, "stopping")
			return
		}
		defer s.recover(r, out)
		handler.ServeHTTP(out, r)
	})
}

// recover notes that a handler panicked, and answers for it if it has not begun to. net/http would log the stack, and
// what the panic holds.
func (s *Server) recover(r *http.Request, out *response) {
	value := recover()
	switch {
	case value == nil:
		return
	case value == http.ErrAbortHandler:
		panic(value) // says nothing, and cuts the connection
	}
	s.log.ErrorContext(r.Context(), "internal error", "cause", fault.Panicked(value))
	if out.begun() {
		panic(http.ErrAbortHandler) // the answer is not whole, and must not look so
	}
	out.Header().Set("Connection", "close")
	say(out, http.StatusInternalServerError, "internal error")
}

func isHealth(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }

// context gives the request's context: that of a stream ends when the server stops.
func (s *Server) context(r *http.Request) (context.Context, context.CancelFunc) {
	if !isStream(r) {
		return r.Context(), func() {}
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.streams, cancel)
	return ctx, func() { stop(); cancel() }
}

func isStream(r *http.Request) bool {
	return r.Header.Get("Upgrade") != "" || strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// done counts and logs. What clients wrote, paths and queries included, stays out of both.
func (s *Server) done(r *http.Request, start time.Time, in *body, out *response, f *facts) {
	took, route, status := time.Since(start), r.Pattern, out.code()
	if route == "" {
		route = "other"
	}
	s.metrics.request(r.Method, route, status, took)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.quiet:
		s.refused.add(tooMuch)
		return
	case status == http.StatusUnauthorized:
		s.strangers.add(unauthenticated)
		return
	case status == http.StatusTooManyRequests:
		s.strangers.add(rateLimited)
		return
	case !f.known && !s.lines.Allow():
		s.strangers.add(others)
		return
	}
	attrs := []slog.Attr{
		slog.String("method", known(r.Method)), slog.String("route", route), slog.Int("status", status),
		slog.Duration("took", took), slog.Int64("in", in.count()), slog.Int64("out", out.count()),
	}
	if f.operations > 0 {
		attrs = append(attrs, slog.Int("operations", f.operations), slog.String("operation", f.kind),
			slog.String("fields", f.fields))
	}
	if f.errors > 0 {
		attrs = append(attrs, slog.Int("errors", f.errors), slog.String("code", f.code))
	}
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "request", attrs...)
}

// Quiet notes that a request was refused for want of room: such come in thousands, and a line for each would cost more
// than the refusal.
func Quiet(ctx context.Context) {
	if f, ok := ctx.Value(factsKey{}).(*facts); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.quiet = true
	}
}

// Known notes that a request, or a WebSocket, comes from a caller who is known: it gets a line of its own, however many
// there are.
func Known(ctx context.Context) {
	if f, ok := ctx.Value(factsKey{}).(*facts); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.known = true
	}
}

// facts are what the API tells about a request for its line in the log.
type facts struct {
	metrics *Metrics

	mu           sync.Mutex
	operations   int
	errors       int
	kind, fields string // of the last operation
	code         string // of the last error
	quiet        bool   // it gets no line of its own
	known        bool   // who asks
}

type factsKey struct{}

// CountOperation notes that a request, or a WebSocket, ran an operation of a kind, with these root fields, which must
// be names of the schema.
func CountOperation(ctx context.Context, kind string, fields []string) {
	f, ok := ctx.Value(factsKey{}).(*facts)
	if !ok {
		return
	}
	f.metrics.operations.WithLabelValues(kind).Inc()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.operations++
	f.kind, f.fields = kind, strings.Join(fields, " ")
}

// CountError notes that a request, or a WebSocket, was answered with an error.
func CountError(ctx context.Context, code string) {
	f, ok := ctx.Value(factsKey{}).(*facts)
	if !ok {
		return
	}
	f.metrics.errors.WithLabelValues(code).Inc()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errors++
	f.code = code
}

// body counts what comes in, and bounds how long it may take; a stream may go on after that.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	read    int64
	there   bool
	ended   bool
}

func limitBody(w http.ResponseWriter, r *http.Request, limit time.Duration) *body {
	b := &body{ReadCloser: r.Body, control: http.NewResponseController(w)}
	if r.Body == nil || r.Body == http.NoBody {
		return b
	}
	_ = b.control.SetReadDeadline(time.Now().Add(limit)) // not supported by a test's recorder
	r.Body, b.there = b, true
	return b
}

// Read reads and, at the end, takes the time-out away.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if err == io.EOF {
		b.ended = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// unread tells whether some of it was not asked for.
func (b *body) unread() bool { return b.there && !b.ended }

// linger is how long the rest of a refused request's body may take to come in, unread: until then a client who is still
// sending it can read the answer.
const linger = time.Second

// end gives a body up that was not read because the request was refused.
func (b *body) end(status int) {
	if status >= http.StatusBadRequest && b.unread() {
		_ = b.control.SetReadDeadline(time.Now().Add(linger))
	}
}

func (b *body) count() int64 { return b.read }
