package chaos

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the overload: how long an answer is of use to whoever asked, how much of the peak must be left, and how soon
// a refusal has to come.
const (
	useful        = time.Second
	goodputLeft   = 0.8
	refusalLimit  = 100 * time.Millisecond
	mostArrivals  = 10_000 // under way at once; more are not sent, and told
	answerTimeout = 35 * time.Second
	idleLimit     = 50 * time.Second // of a connection; the server closes it after 60 s
)

// wire is a connection that is kept open. It does little else than what HTTP asks for: the load must not take the
// processors that the server needs.
type wire struct {
	conn                net.Conn
	in                  *bufio.Reader
	body, request, text []byte // used again and again
	idle                time.Time
	limit               time.Time // when the time for an answer was set last
}

// arrivals are clients that come whether or not others were served. Make them with newArrivals.
type arrivals struct {
	v                *server
	journal          *journal
	heads            []string // of requests, up to their length, by owner
	sessions, owners []string
	mu               sync.Mutex
	free             []*wire // the one that was used last is used first, as clients of HTTP do
	next             atomic.Int64
	failed           atomic.Pointer[error]
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
	for _, w := range a.free {
		_ = w.conn.Close()
	}
}

func (a *arrivals) wire(ctx context.Context) (*wire, error) {
	if w := a.idle(); w != nil {
		return w, nil
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", a.v.addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 1024)}, nil
}

func (a *arrivals) idle() *wire {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.free)
	if n == 0 {
		return nil
	}
	w := a.free[n-1]
	if time.Since(w.idle) > idleLimit { // and so are the others
		for _, w := range a.free {
			_ = w.conn.Close()
		}
		a.free = nil
		return nil
	}
	a.free = a.free[:n-1]
	return w
}

func (a *arrivals) giveBack(w *wire) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.idle = time.Now()
	a.free = append(a.free, w)
}

// one appends one message over a connection, and notes it if it is acknowledged.
func (a *arrivals) one(ctx context.Context) (code string, err error) {
	n := a.next.Add(1)
	e := entry{Session: a.sessions[int(n)%len(a.sessions)], Content: "arrival " + strconv.FormatInt(n, 10) + ", of some words that say little"}
	w, err := a.wire(ctx)
	if err != nil {
		return transport, err
	}
	w.body = append(w.body[:0], `{"query":"`+appendQuery+`","variables":{"m":[{"sessionHash":"`+e.Session+`","ownerId":"`+
		a.owners[int(n)%len(a.owners)]+`","content":"`+e.Content+`","idempotencyKey":"arrival-`...)
	w.body = append(strconv.AppendInt(w.body, n, 10), `"}]}}`...)
	w.request = strconv.AppendInt(append(w.request[:0], a.heads[int(n)%len(a.heads)]...), int64(len(w.body)), 10)
	w.request = append(append(w.request, "\r\n\r\n"...), w.body...)
	if now := time.Now(); now.Sub(w.limit) > time.Second {
		w.limit = now
		_ = w.conn.SetDeadline(now.Add(answerTimeout + time.Second))
	}
	status, text, err := w.ask()
	if err != nil {
		_ = w.conn.Close()
		if failure, ok := errors.AsType[net.Error](err); ok && failure.Timeout() {
			return silent, err
		}
		return transport, err
	}
	const begins = `{"data":{"appendMessages":[{"hash":"`
	done := bytes.HasPrefix(text, []byte(begins)) && len(text) > len(begins)+64
	if done {
		e.Hash, code = string(text[len(begins):len(begins)+64]), answered
	} else {
		code = "status " + status
		for _, known := range []string{unavailable, limited, internal} {
			if bytes.Contains(text, []byte(`"`+known+`"`)) {
				code = known
			}
		}
	}
	a.giveBack(w)
	if done {
		if err := a.journal.add(e); err != nil {
			a.failed.Store(&err)
		}
	}
	return code, nil
}

// ask sends the request, and reads the answer, whose text is good until the next.
func (w *wire) ask() (status string, text []byte, err error) {
	if _, err := w.conn.Write(w.request); err != nil {
		return "", nil, err
	}
	for length := -1; ; {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return "", nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.HasPrefix(line, []byte("HTTP/")):
			_, after, _ := bytes.Cut(line, []byte(" "))
			status = string(after)
		case string(name) == "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return "", nil, err
			}
		case len(line) == 0 && length < 0:
			return "", nil, errors.New("the answer does not say how long it is")
		case len(line) == 0:
			w.text = slices.Grow(w.text[:0], length)[:length]
			_, err := io.ReadFull(w.in, w.text)
			return status, w.text, err
		}
	}
}

// closed lets so many clients ask one after the other, and gives how many messages a second were acknowledged.
func (a *arrivals) closed(parent context.Context, clients int, span time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(parent, span)
	defer cancel()
	before, began := a.journal.count(), time.Now()
	var wait sync.WaitGroup
	for range clients {
		wait.Go(func() {
			for ctx.Err() == nil {
				if code, _ := a.one(ctx); code != answered {
					_ = pause(ctx, retryEvery)
				}
			}
		})
	}
	wait.Wait()
	return float64(a.journal.count()-before) / time.Since(began).Seconds(), parent.Err()
}

// open lets clients come at a rate for a while, and gives how each went, and how many could not be sent.
func (a *arrivals) open(ctx context.Context, rate float64, span time.Duration) (list []answer, unsent int64) {
	found := answers{all: make([]answer, 0, int(rate*span.Seconds())+mostArrivals)} // to grow takes long, and everybody waits
	var under atomic.Int64
	var wait sync.WaitGroup
	began := time.Now()
	for sent := 0; ctx.Err() == nil; {
		due := int(rate * min(time.Since(began), span).Seconds())
		for ; sent < due; sent++ {
			if under.Load() >= mostArrivals {
				unsent++
				continue
			}
			under.Add(1)
			wait.Go(func() {
				defer under.Add(-1)
				at := time.Now()
				code, err := a.one(ctx)
				message := ""
				if err != nil {
					message = err.Error()
				}
				found.add(0, at, code, message)
			})
		}
		if time.Since(began) >= span {
			break
		}
		_ = pause(ctx, time.Millisecond)
	}
	wait.Wait()
	return found.since(time.Time{}), unsent
}

// peak is how many messages a second are acknowledged at most, for as long as it takes that checkpoints of Postgres, and
// what they cost, are part of it: of 32, 64 and 128 clients those who do best for a moment go on.
func (a *arrivals) peak(ctx context.Context, s *stage) (peak float64, err error) {
	var best int
	for _, clients := range []int{32, 64, 128} {
		rate, err := a.closed(ctx, clients, size(s, time.Second, 10*time.Second))
		if err != nil {
			return 0, err
		}
		s.say("%d clients: %.0f messages/s", clients, rate)
		if rate > peak {
			peak, best = rate, clients
		}
	}
	if peak, err = a.closed(ctx, best, size(s, time.Second, 90*time.Second)); err != nil {
		return 0, err
	}
	s.say("%d clients, for longer: %.0f messages/s", best, peak)
	return peak, nil
}

// refusals adds the rows about what was refused: something must be, and soon.
func (s *stage) refusals(done string, refused []time.Duration) {
	late, latest := percentile(refused, 0.99), percentile(refused, 1)
	s.found(done, len(refused), fmt.Sprintf("some are refused, 99 of 100 in time (%s)", refusalLimit),
		fmt.Sprintf("%d refused: p99 %s, %s at most", len(refused), short(late), short(latest)), len(refused) > 0 && late <= s.limit(refusalLimit),
		map[string]float64{"refused": float64(len(refused)), "p99_ms": milliseconds(late), "max_ms": milliseconds(latest)})
	s.rows[len(s.rows)-1].Timed = true
}

// overload brings twice of what the server can take, with the Postgres that it starts by itself.
func overload(ctx context.Context, s *stage) error {
	v, err := s.serve(ctx, "")
	if err != nil {
		return err
	}
	o, err := s.observe(ctx, v)
	if err != nil {
		return err
	}
	journal, err := openJournal(filepath.Join(s.dir, "arrivals"))
	if err != nil {
		return err
	}
	s.later(journal.close)
	a, err := newArrivals(ctx, v, journal)
	if err != nil {
		return err
	}
	s.later(a.close)
	// An empty log takes a third more than once search vectors have to keep up, and Postgres has made its first checkpoints.
	if _, err := a.closed(ctx, 128, size(s, 100*time.Millisecond, 2*time.Minute)); err != nil {
		return err
	}
	before, err := a.peak(ctx, s)
	if err != nil {
		return err
	}
	span := size(s, 4*time.Second, 5*time.Minute)
	list, unsent := a.open(ctx, 2*before, span)
	after, err := a.peak(ctx, s)
	if err != nil {
		return err
	}
	peak := (before + after) / 2 // a larger log takes longer to append to
	done := fmt.Sprintf("twice the peak of %.0f messages/s for %s; then the peak is %.0f", before, span, after)
	if err := a.failed.Load(); err != nil {
		return *err
	}
	var good int
	var refused []time.Duration
	for _, x := range list {
		switch {
		case x.code == answered && x.took <= useful:
			good++
		case x.code != answered:
			refused = append(refused, x.took)
		}
	}
	goodput := float64(good) / span.Seconds()
	s.found(done, len(list), "goodput (acknowledged within 1 s) ≥ 80 % of the mean of both peaks",
		fmt.Sprintf("%.0f messages/s, %.0f %%; %s; p99 of the acknowledged %s", goodput, 100*goodput/peak, tally(list),
			short(percentile(durations(list, answered), 0.99))),
		goodput >= goodputLeft*peak/s.cfg.Patience, map[string]float64{"before": before, "after": after, "goodput": goodput})
	s.rows[len(s.rows)-1].Timed = true
	s.found(done, len(list), "all could be sent", fmt.Sprintf("%d of %d could not", unsent, len(list)+int(unsent)), unsent == 0 && len(list) > 0,
		map[string]float64{"unsent": float64(unsent)})
	s.rows[len(s.rows)-1].Timed = true
	s.refusals(done, refused)
	s.found(done, len(list), "refused with UNAVAILABLE or RATE_LIMITED and nothing else", tally(list),
		count(list, answered, unavailable, limited) == len(list) && len(list) > 0, nil)
	var sum verdict
	at, err := v.databaseURL()
	if err != nil {
		return err
	}
	crew := &crew{s: s, client: v.client(1), journal: journal, open: true}
	if err := crew.check(ctx, o, at, &sum); err != nil {
		return err
	}
	s.nothingLost(done, 1, &sum, o)
	return nil
}
