package chaos

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What slow readers ask for: so many pages of so many messages of so many bytes, 12 MB in all. Loopback's buffers take some
// of it; the rest has to wait in the server.
const (
	muchPages    = 24
	muchMessages = 5
	muchBytes    = 100_000
)

// How long a slow reader takes nothing before it comes again, which is less than the server waits, and when it comes again if
// it was refused.
const (
	takesNothing = 20 * time.Second
	comesAgain   = 5 * time.Second
)

// slowReaders ask for much that their player wrote, with that player's token, and take nothing of the answer.
func (s *scene) slowReaders(ctx context.Context, by *outsider, clients int, span time.Duration) error {
	for i := range muchMessages {
		if err := by.write(ctx, fmt.Sprintf("%d%s", i, filler(muchBytes))); err != nil {
			return err
		}
	}
	var query strings.Builder
	for page := range muchPages {
		fmt.Fprintf(&query, `p%d: session(hash: \"%s\") { messages(last: %d) { edges { node { hash content } } } } `, page, by.session, muchMessages)
	}
	body := fmt.Sprintf(`{"query": "{ %s}"}`, query.String())
	request := []byte(fmt.Sprintf(requestHead+"%s", s.server.addr, by.token, len(body), body))
	done := fmt.Sprintf("%d clients ask for %d MB and take nothing", clients, muchPages*muchMessages*muchBytes/1_000_000)
	return s.bother(ctx, done, span, func(ctx context.Context) (func() error, error) {
		r := &readers{addr: s.server.addr, request: request}
		end := r.come(ctx, clients)
		err := s.writingTo(ctx, done, r)
		return func() error { end(); return nil }, err
	})
}

// writingTo adds a row: the server is in the middle of an answer to each who takes nothing.
func (s *scene) writingTo(ctx context.Context, done string, r *readers) error {
	var writing float64
	_, err := until(ctx, startLimit, "answers are being written", func() bool {
		var err error
		writing, err = s.server.metric(ctx, "http_requests_in_flight")
		held := r.held.Load()
		return err == nil && r.tried() && held > 0 && writing >= float64(held)
	})
	s.found(done, int(r.held.Load()), "the server is in the middle of their answers", fmt.Sprintf("%d are answered 200 and take nothing, %.0f requests are being answered; %s",
		r.held.Load(), writing, tally(r.refused.since(time.Time{}))), err == nil, nil)
	return ctx.Err()
}

// readers are clients that take nothing.
type readers struct {
	addr    string
	request []byte
	clients int
	held    atomic.Int64 // are being answered with 200
	first   atomic.Int64 // were answered once, in whatever way
	refused answers
}

// tried tells whether all were answered once.
func (r *readers) tried() bool { return r.first.Load() >= int64(r.clients) }

// come lets clients come, again and again, until the end is called.
func (r *readers) come(ctx context.Context, clients int) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	r.clients = clients
	slots := make(chan struct{}, 16) // ask at a time
	var wait sync.WaitGroup
	for range clients {
		wait.Go(func() {
			for first := true; ctx.Err() == nil; first = false {
				slots <- struct{}{}
				began := time.Now()
				conn, status, err := r.ask(ctx)
				<-slots
				if first {
					r.first.Add(1)
				}
				if ctx.Err() == nil && err == nil && status == "200" {
					r.held.Add(1)
					_ = pause(ctx, takesNothing)
					r.held.Add(-1)
				} else {
					code := "status " + status
					if err != nil {
						code = transport
					}
					r.refused.add(0, began, code, "")
					_ = pause(ctx, comesAgain/2+rand.N(comesAgain))
				}
				if conn != nil {
					_ = conn.Close()
				}
			}
		})
	}
	return func() { cancel(); wait.Wait() }
}

// ask asks, over a connection whose buffer holds next to nothing, and reads no more than the status.
func (r *readers) ask(ctx context.Context) (conn net.Conn, status string, err error) {
	dialer := net.Dialer{Timeout: 5 * time.Second, Control: func(_, _ string, raw syscall.RawConn) (err error) {
		failed := raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
		if failed != nil {
			return failed
		}
		return err
	}}
	if conn, err = dialer.DialContext(ctx, "tcp", r.addr); err != nil {
		return nil, "", err
	}
	if _, err := conn.Write(r.request); err != nil {
		return conn, "", err
	}
	_ = conn.SetReadDeadline(time.Now().Add(operationLimit))
	begin := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, begin); err != nil {
		return conn, "", err
	}
	return conn, string(begin[len(begin)-3:]), nil
}
