package httpd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// running is a server on a free port.
type running struct {
	*Server
	t    *testing.T
	addr string
	log  *buffer
	stop context.CancelFunc
	done chan error
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func run(t *testing.T, handler http.Handler, l limits) *running {
	t.Helper()
	r := &running{t: t, log: &buffer{}, done: make(chan error, 1)}
	r.Server = New(NewMetrics(), slog.New(slog.NewTextHandler(r.log, nil)))
	r.limits = l
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = listener.Addr().String()
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/readyz", r.Health(Readiness{}))
	mux.Handle("/metrics", r.metrics.Handler())
	mux.Handle("/", handler)
	go func() { r.done <- r.Run(ctx, listener, mux) }()
	t.Cleanup(r.stop)
	return r
}

func (r *running) do(method, path, body string, header ...string) (*http.Response, string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.addr+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response, string(text)
}

func (r *running) end() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(20 * time.Second):
		r.t.Fatal("Run does not return")
		return nil
	}
}

func TestOneLineARequest(t *testing.T) {
	t.Parallel()
	r := run(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		CountOperation(r.Context(), "query", []string{"threads", "verifyLog"})
		CountError(r.Context(), "NOT_FOUND")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "secret answer")
	}), defaultLimits())
	r.do("POST", "/private/path?secret=query", "secret body", "Authorization", "Bearer secret")
	r.do("INVENTED", "/", "")
	r.stop()
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("the log has %d lines, want 2:\n%s", len(lines), r.log)
	}
	for _, want := range []string{"msg=request method=POST route=/ status=418 took=", "in=11 out=13 operations=1 operation=query", `fields="threads verifyLog"`, "errors=1 code=NOT_FOUND"} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("the line is %s, want %q in it", lines[0], want)
		}
	}
	if !strings.Contains(lines[1], "method=other") || strings.Contains(r.log.String(), "secret") || strings.Contains(r.log.String(), "private") {
		t.Errorf("the log has what clients wrote:\n%s", r.log)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := run(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		CountOperation(r.Context(), "mutation", nil)
		CountError(r.Context(), "CONFLICT")
	}), defaultLimits())
	r.do("POST", "/a", "")
	r.do("POST", "/b", "")
	_, text := r.do("GET", "/metrics", "")
	for _, want := range []string{
		`http_requests_total{method="POST",route="/",status="200"} 2`, `http_request_duration_seconds_count{route="/"} 2`,
		`graphql_operations_total{kind="mutation"} 2`, `graphql_errors_total{code="CONFLICT"} 2`,
		"http_requests_in_flight 1", "go_goroutines", "process_cpu_seconds_total",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("/metrics has no %q", want)
		}
	}
}

type recorder struct {
	header http.Header
	status int
	body   strings.Builder
}

func newRecorder() *recorder                    { return &recorder{header: http.Header{}} }
func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

func TestStopEndsStreamsAndWaits(t *testing.T) {
	t.Parallel()
	began, finish := make(chan string, 2), make(chan struct{})
	r := run(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			began <- "stream"
			<-r.Context().Done()
			_, _ = io.WriteString(w, "bye")
			return
		}
		began <- "request"
		select {
		case <-finish:
			_, _ = io.WriteString(w, "done")
		case <-r.Context().Done():
		}
	}), defaultLimits())
	answers := make(chan string, 2)
	for _, path := range []string{"/stream", "/slow"} {
		go func() {
			_, text := r.do("GET", path, "", "Accept", map[string]string{"/stream": "text/event-stream"}[path])
			answers <- text
		}()
		<-began
	}
	r.stop()
	if got := <-answers; got != "bye" {
		t.Errorf("the first answer after the stop = %q, want the stream's end", got)
	}
	close(finish)
	if got := <-answers; got != "done" {
		t.Errorf("the request under way gets %q, want its answer", got)
	}
	if err := r.end(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

func TestStopDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	l := defaultLimits()
	l.drain = 50 * time.Millisecond
	r := run(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}), l)
	go func() {
		if response, err := http.Get("http://" + r.addr + "/"); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-began
	r.stop()
	if err := r.end(); err == nil || !strings.Contains(err.Error(), "did not finish in time") {
		t.Errorf("Run = %v, want that requests did not finish", err)
	}
}

// raw sends bytes as they are, and gives what comes back until the server closes.
func (r *running) raw(text string) string {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		r.t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		r.t.Fatalf("after %q: %v", answer, err)
	}
	return string(answer)
}

func TestSlowClients(t *testing.T) {
	t.Parallel()
	l := defaultLimits()
	l.header, l.body, l.idle = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	r := run(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %v", text, err != nil)
	}), l)
	const request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"
	for name, test := range map[string]struct{ sent, want string }{
		"headers":  {"POST / HTTP/1.1\r\nHost:", ""},
		"body":     {request + "ab", "ab true"},
		"all":      {request + "abcd", "abcd false"},
		"too long": {"GET / HTTP/1.1\r\nHost: a\r\nA: " + strings.Repeat("x", 32<<10) + "\r\n\r\n", "431"},
	} {
		if got := r.raw(test.sent); !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "200 OK") {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A stream may go on for longer than its request's body may take.
func TestStreamOutlivesBodyLimit(t *testing.T) {
	t.Parallel()
	l := defaultLimits()
	l.body = 50 * time.Millisecond
	r := run(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
			_, _ = io.WriteString(w, "cut")
		case <-time.After(4 * l.body):
			_, _ = io.WriteString(w, "whole")
		}
	}), l)
	if _, text := r.do("POST", "/", "body", "Accept", "text/event-stream"); text != "whole" {
		t.Errorf("the stream is %q, want it whole", text)
	}
}

func TestLateWritesAreSwallowed(t *testing.T) {
	t.Parallel()
	w := newRecorder()
	r := newResponse(w, time.Second, func() bool { return false })
	_, _ = io.WriteString(r, "in time")
	r.finish()
	if _, err := io.WriteString(r, "late"); err == nil {
		t.Error("a late write gives no error")
	}
	r.Flush()
	r.WriteHeader(500)
	if got := w.body.String(); got != "in time" || w.status != 0 || r.code() != 200 || r.count() != 7 {
		t.Errorf("the body = %q with %d, counted as %d with %d bytes", got, w.status, r.code(), r.count())
	}
}

func TestListenSaysWhatToDo(t *testing.T) {
	t.Parallel()
	first, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, err = Listen(t.Context(), first.Addr().String())
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "set ADDR") {
		t.Errorf("Listen where somebody does = %v, want UNAVAILABLE and what to do", err)
	}
}

// A WebSocket's other end that reads nothing is not waited for.
func TestSlowReaderOfASocket(t *testing.T) {
	t.Parallel()
	l := defaultLimits()
	l.write = 50 * time.Millisecond
	failed := make(chan error, 1)
	r := run(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			failed <- err
			return
		}
		defer conn.Close()
		for err == nil {
			_, err = buffer.Write(make([]byte, 64<<10))
		}
		failed <- err
	}), l)
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the write fails with %v, want that its time is over", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the server writes on and on")
	}
}

// A refusal does not wait for a body that nobody wants.
func TestRefusalDoesNotWaitForTheBody(t *testing.T) {
	t.Parallel()
	l := defaultLimits()
	l.body = time.Hour
	r := run(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }), l)
	if got := r.raw("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 401") {
		t.Errorf("the answer is %q, want 401", got)
	}
}

// What the tests shorten is what docs/hostile-input.md promises.
func TestLimitsAreAsPromised(t *testing.T) {
	t.Parallel()
	l := defaultLimits()
	if l.header != 5*time.Second || l.body != 30*time.Second || l.write != 30*time.Second || l.idle != time.Minute || maxHeaderBytes != 16384 {
		t.Errorf("%+v, and %d bytes of headers; want 5 s, 30 s, 30 s, 60 s, and 16384 bytes", l, maxHeaderBytes)
	}
}
