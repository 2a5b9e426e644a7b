package httpd

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"
)

// response counts what goes out, bounds how long a client may take to read it, and swallows what is written after
// the handler has returned: a stream's keep-alive may be late, and the connection is no longer its own by then.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration // for each write
	unread  func() bool   // whether the request has a body that was not read to its end

	mu       sync.Mutex
	status   int
	written  int64
	extended time.Time // when the deadline was set
	finished bool
}

func newResponse(w http.ResponseWriter, limit time.Duration, unread func() bool) *response {
	r := &response{ResponseWriter: w, control: http.NewResponseController(w), limit: limit, unread: unread}
	_ = r.control.SetWriteDeadline(time.Time{}) // of the request before; a test's recorder has none
	return r
}

// WriteHeader sends the status.
func (r *response) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished {
		return
	}
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
	if status >= http.StatusBadRequest && r.unread() {
		r.Header().Set("Connection", "close") // or net/http would wait for the body before it answers
	}
	r.extend()
	r.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (r *response) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished {
		return 0, http.ErrHandlerTimeout
	}
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.extend()
	n, err := r.ResponseWriter.Write(p)
	r.written += int64(n)
	return n, err
}

// Flush sends what was written.
func (r *response) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.finished {
		_ = r.control.Flush()
	}
}

// Hijack gives the connection, to a WebSocket. Each write to it is bounded, too.
func (r *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	conn, buffer, err := r.control.Hijack()
	if err != nil {
		return nil, nil, err
	}
	r.status = http.StatusSwitchingProtocols
	patient := &bounded{Conn: conn, limit: r.limit}
	buffer.Writer.Reset(patient)
	return patient, buffer, nil
}

// bounded is a connection whose other end may take no longer than a limit to take what is written at once.
type bounded struct {
	net.Conn
	limit time.Duration
}

// Write writes, and fails if that takes too long; then the connection is of no more use.
func (b *bounded) Write(p []byte) (int, error) {
	_ = b.SetWriteDeadline(time.Now().Add(b.limit))
	return b.Conn.Write(p)
}

// Unwrap gives the writer below to http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// extend gives what is written next its time, to a sixteenth: a stream's many small events need no deadline each.
func (r *response) extend() {
	if now := time.Now(); now.Sub(r.extended) > r.limit/16 {
		r.extended = now
		_ = r.control.SetWriteDeadline(now.Add(r.limit))
	}
}

func (r *response) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
}

func (r *response) code() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// begun tells whether the answer has begun.
func (r *response) begun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status != 0
}

func (r *response) count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}
