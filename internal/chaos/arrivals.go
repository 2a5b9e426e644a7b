package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of the clients that come whether or not others were served.
const (
	mostArrivals  = 10_000 // under way at once; more are not sent, and told
	answerTimeout = 35 * time.Second
	idleLimit     = 50 * time.Second // of a connection; the server closes it after 60 s
	lookEvery     = time.Millisecond
)

// wire is a connection that is kept open, and what is under way on it.
type wire struct {
	file  *os.File // so that it is not closed
	fd    int
	in    []byte // of the answer, so far
	entry entry
	since time.Time // when the client came, or the last answer did
}

// arrivals are clients, of which each appends one message. All are of one goroutine, which writes and reads without waiting, and looks for
// answers a thousand times a second at most: what the load takes of the processors, the server lacks. Make them with newArrivals.
type arrivals struct {
	v                *server
	journal          *journal
	heads            []string // of requests, up to their length, by owner
	sessions, owners []string
	n                int     // how many came
	free             []*wire // the one that was used last is used first, as clients of HTTP do
	under            []*wire // waiting for their answers
	polled           []unix.PollFd
	body, request    []byte // used again and again
	told             []entry
}

// newArrivals makes clients. One half works with the administrator's token, the other with agents' tokens of their own
// players.
func newArrivals(ctx context.Context, v *server, journal *journal) (*arrivals, error) {
	a := &arrivals{v: v, journal: journal}
	maker := &crew{client: v.client(1), journal: journal}
	defer maker.client.http.CloseIdleConnections()
	const sessions, owners = 1000, 50 // each session has one owner
	for n := range sessions {
		a.sessions = append(a.sessions, hashOf(fmt.Sprintf("arrival %d", n)))
	}
	for n := range owners {
		token := v.token
		if n >= admins(owners) {
			var err error
			if token, err = maker.newToken(ctx, ownerOf(n), nil); err != nil {
				return nil, err
			}
		}
		head := strings.TrimSuffix(requestHead, "%d\r\n\r\n")
		a.owners, a.heads = append(a.owners, ownerOf(n)), append(a.heads, fmt.Sprintf(head, v.addr, token))
	}
	return a, nil
}

func (a *arrivals) close() {
	for _, w := range slices.Concat(a.free, a.under) {
		_ = w.file.Close()
	}
	a.free, a.under = nil, nil
}

// wire gives a connection that is free, or a new one.
func (a *arrivals) wire(ctx context.Context, now time.Time) (*wire, error) {
	if n := len(a.free); n > 0 {
		if w := a.free[n-1]; now.Sub(w.since) <= idleLimit {
			a.free = a.free[:n-1]
			return w, nil
		}
		for _, w := range a.free { // the others were idle for longer
			_ = w.file.Close()
		}
		a.free = nil
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", a.v.addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	file, err := conn.(*net.TCPConn).File() // which the runtime does not wait for
	if err != nil {
		return nil, err
	}
	w := &wire{file: file, fd: int(file.Fd())}
	if err := unix.SetNonblock(w.fd, true); err != nil {
		_ = file.Close()
		return nil, err
	}
	return w, nil
}

// send sends the request of one more client, who has been there since a moment. If that fails, it gives the answer.
func (a *arrivals) send(ctx context.Context, since time.Time) (failed *answer) {
	a.n++
	number := strconv.Itoa(a.n)
	w, err := a.wire(ctx, time.Now())
	if err != nil {
		return &answer{at: time.Now(), took: time.Since(since), code: transport}
	}
	w.entry = entry{Session: a.sessions[a.n%len(a.sessions)], Content: "arrival " + number + ", of some words that say little"}
	w.in, w.since = w.in[:0], since
	a.body = append(a.body[:0], `{"query":"`+appendQuery+`","variables":{"m":[{"sessionHash":"`...)
	for _, part := range []string{w.entry.Session, `","ownerId":"`, a.owners[a.n%len(a.owners)], `","content":"`, w.entry.Content, `","idempotencyKey":"arrival-`, number, `"}]}}`} {
		a.body = append(a.body, part...)
	}
	a.request = strconv.AppendInt(append(a.request[:0], a.heads[a.n%len(a.heads)]...), int64(len(a.body)), 10)
	a.request = append(append(a.request, "\r\n\r\n"...), a.body...)
	if n, err := unix.Write(w.fd, a.request); err != nil || n < len(a.request) {
		_ = w.file.Close()
		return &answer{at: time.Now(), took: time.Since(since), code: transport}
	}
	a.under = append(a.under, w)
	return nil
}

// collect reads the answers that came, and gives them. What was acknowledged is noted.
func (a *arrivals) collect() (came []answer, err error) {
	a.polled = slices.Grow(a.polled[:0], len(a.under))
	for _, w := range a.under {
		a.polled = append(a.polled, unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN})
	}
	if _, err := unix.Poll(a.polled, 0); err != nil && !errors.Is(err, unix.EINTR) {
		return nil, err
	}
	now := time.Now()
	left := a.under[:0]
	a.told = a.told[:0]
	for i, w := range a.under {
		code, reusable := "", false
		switch {
		case a.polled[i].Revents != 0:
			code, reusable = w.read()
		case now.Sub(w.since) > answerTimeout:
			code = silent
		}
		if code == "" {
			left = append(left, w)
			continue
		}
		if code == answered {
			a.told = append(a.told, w.entry)
		}
		came = append(came, answer{at: now, took: now.Sub(w.since), code: code})
		w.since = now
		if reusable {
			a.free = append(a.free, w)
		} else {
			_ = w.file.Close()
		}
	}
	a.under = left
	if len(a.told) > 0 {
		err = a.journal.add(a.told...)
	}
	return came, err
}

// read reads what came, and gives how the request went once the answer is whole, and whether the connection is good for another.
func (w *wire) read() (code string, reusable bool) {
	w.in = slices.Grow(w.in, 2048)
	n, err := unix.Read(w.fd, w.in[len(w.in):cap(w.in)])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return "", false
	case err != nil || n == 0:
		return transport, false
	}
	w.in = w.in[:len(w.in)+n]
	head, text, ok := bytes.Cut(w.in, []byte("\r\n\r\n"))
	if !ok {
		return "", false
	}
	_, after, _ := bytes.Cut(head, []byte("\r\nContent-Length: "))
	digits, _, _ := bytes.Cut(after, []byte("\r\n"))
	length, err := strconv.Atoi(string(digits))
	if err != nil {
		return transport, false // who does not say how long an answer is ends it by closing
	}
	if len(text) < length {
		return "", false
	}
	return w.outcome(head, text[:length]), !bytes.Contains(head, []byte("\r\nConnection: close"))
}

// outcome gives how a request went, and takes the hash of a message that was appended.
func (w *wire) outcome(head, text []byte) string {
	const begins = `{"data":{"appendMessages":[{"hash":"`
	if rest, ok := bytes.CutPrefix(text, []byte(begins)); ok && len(rest) > 64 {
		w.entry.Hash = string(rest[:64])
		return answered
	}
	for _, known := range []string{unavailable, limited, internal} {
		if bytes.Contains(text, []byte(`"`+known+`"`)) {
			return known
		}
	}
	status, _, _ := strings.Cut(strings.TrimPrefix(string(head), "HTTP/1.1 "), "\r\n")
	return "status " + status
}

// closed lets so many clients ask one after the other, and gives how many messages a second were acknowledged. Who is refused comes again
// a little later.
func (a *arrivals) closed(ctx context.Context, clients int, span time.Duration) (float64, error) {
	acknowledged, began := 0, time.Now()
	var resting []time.Time // until when
	for ctx.Err() == nil && (time.Since(began) < span || len(a.under) > 0) {
		now := time.Now()
		for len(resting) > 0 && now.After(resting[0]) {
			resting = resting[1:]
		}
		for now.Sub(began) < span && len(a.under)+len(resting) < clients {
			if a.send(ctx, time.Now()) != nil {
				resting = append(resting, now.Add(retryEvery))
			}
		}
		came, err := a.collect()
		if err != nil {
			return 0, err
		}
		for _, x := range came {
			if x.code == answered {
				acknowledged++
			} else {
				resting = append(resting, x.at.Add(retryEvery))
			}
		}
		_ = pause(ctx, lookEvery) // as in open, so that what looking takes from the server is the same
	}
	return float64(acknowledged) / time.Since(began).Seconds(), ctx.Err()
}

// open lets clients come at a rate for a while, and gives how each went, and how many could not be sent. What each takes counts from
// when they were to come: one who is sent late has waited.
func (a *arrivals) open(ctx context.Context, rate float64, span time.Duration) (list []answer, unsent int, err error) {
	list = make([]answer, 0, int(rate*span.Seconds())+mostArrivals) // to grow takes long, and everybody waits
	began := time.Now()
	for sent := 0; ctx.Err() == nil && (time.Since(began) < span || len(a.under) > 0); {
		due := int(rate * min(time.Since(began), span).Seconds())
		for ; sent < due; sent++ {
			if len(a.under) >= mostArrivals {
				unsent++
			} else if failed := a.send(ctx, began.Add(time.Duration(float64(sent)/rate*float64(time.Second)))); failed != nil {
				list = append(list, *failed)
			}
		}
		came, err := a.collect()
		if err != nil {
			return nil, unsent, err
		}
		list = append(list, came...)
		_ = pause(ctx, lookEvery)
	}
	return list, unsent, ctx.Err()
}
