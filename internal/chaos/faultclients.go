package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// othersFactor is how much longer others may wait while somebody misbehaves.
const othersFactor = 2

// polite is the load of those whom nobody should hold up: far from what the server can do.
var polite = load{writers: 4, readers: 4, hot: 2, think: 10 * time.Millisecond}

// bother measures how long others wait without something, with it and without it again.
func (s *scene) bother(ctx context.Context, done string, span time.Duration, begin func(ctx context.Context) (end func() error, err error)) error {
	measure := func() (writes, reads []time.Duration, all []answer, err error) {
		from := time.Now()
		err = pause(ctx, span)
		w, r := s.crew.writes.since(from), s.crew.reads.since(from)
		return durations(w, answered), durations(r, answered), append(w, r...), err
	}
	if _, err := s.crew.writing(ctx, time.Now(), recoveryLimit); err != nil {
		return err
	}
	writes, reads, _, err := measure()
	if err != nil {
		return err
	}
	end, err := begin(ctx)
	if err != nil {
		return err
	}
	theirWrites, theirReads, all, err := measure()
	if err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	writesAfter, readsAfter, _, err := measure()
	if err != nil {
		return err
	}
	measured, ok := s.crew.served(all)
	s.found(done, 1, "others are answered", measured, ok, nil)
	s.compare(done, "others' writes", append(writes, writesAfter...), theirWrites)
	s.compare(done, "others' reads", append(reads, readsAfter...), theirReads)
	var sum verdict
	if err := s.crew.check(ctx, s.observer, s.server.database, &sum); err != nil {
		return err
	}
	s.nothingLost(done, 1, &sum, s.observer)
	return nil
}

// compare adds a row about p99 without and with.
func (s *stage) compare(done, what string, without, with []time.Duration) {
	a, b := percentile(without, 0.99), percentile(with, 0.99)
	ratio := float64(b) / float64(max(a, 1))
	s.found(done, len(with), fmt.Sprintf("%s' p99 ≤ %d × without", strings.TrimSuffix(what, "'"), othersFactor),
		fmt.Sprintf("%s, %s without: %.2f ×", short(b), short(a), ratio), len(with) > 0 && ratio <= othersFactor*s.cfg.Patience,
		map[string]float64{"with_ms": milliseconds(b), "without_ms": milliseconds(a), "ratio": ratio})
	s.rows[len(s.rows)-1].Timed = true
}

// slowClients hold connections and send, or take, next to nothing.
func slowClients(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	scene, err := s.scene(ctx, c.url(database), polite)
	if err != nil {
		return err
	}
	slow, err := scene.crew.outsider(ctx, "slow")
	if err != nil {
		return err
	}
	clients, span := size(s, 200, 1000), size(s, time.Second, 30*time.Second)
	seconds := strconv.Itoa(int(span.Seconds()) + 20)
	target := "http://" + scene.server.addr
	page, err := largestPage(ctx, scene.server)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name string
		args []string
	}{
		{"headers", []string{"-H", "-u", target + "/graphql"}},
		{"bodies", []string{"-B", "-u", target + "/graphql", "-f", "application/json", "-s", "100000"}},
		{"reads", []string{"-X", "-u", target + page, "-w", "10", "-y", "20", "-n", "5", "-z", "8", "-k", "5"}},
	} {
		args := append(kind.args, "-c", strconv.Itoa(clients), "-r", strconv.Itoa(clients), "-i", "3", "-l", seconds, "-p", "30", "-v", "1")
		err := scene.bother(ctx, fmt.Sprintf("%d clients with slow %s (slowhttptest)", clients, kind.name), span, func(ctx context.Context) (func() error, error) {
			return s.slowhttptest(ctx, args, clients)
		})
		if err != nil {
			return fmt.Errorf("slow %s: %w", kind.name, err)
		}
	}
	if err := scene.slowBodies(ctx, slow, clients, span); err != nil {
		return fmt.Errorf("slow bodies with a token: %w", err)
	}
	if err := scene.slowReaders(ctx, slow, clients, span); err != nil {
		return fmt.Errorf("slow reads with a token: %w", err)
	}
	return nil
}

var scriptOf = regexp.MustCompile(`src="(/[^"]+\.js)"`)

// largestPage gives the console's script, which needs no token. If no console was built, a test takes its first page.
func largestPage(ctx context.Context, v *server) (string, error) {
	_, page := v.get(ctx, "/", 10*time.Second)
	if script := scriptOf.FindStringSubmatch(page); script != nil {
		return script[1], nil
	}
	if v.s.cfg.Full {
		return "", errors.New("the server has no console, whose script is the largest page: build it first")
	}
	return "/", nil
}

// slowhttptest runs that program until the end is called. A server that refuses at once ends it; it then comes again.
func (s *stage) slowhttptest(ctx context.Context, args []string, clients int) (end func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	done, first := make(chan error, 1), make(chan error, 1)
	go func() {
		for began := false; ; began = true {
			p, err := launch(exec.Command(lookPath("slowhttptest"), args...), nil)
			if !began {
				if err == nil {
					_, err = until(ctx, startLimit, "slow clients are connected", func() bool {
						return p.ended() || files(p.pid()) > clients*8/10
					})
				}
				first <- err
			}
			if err != nil {
				done <- err
				return
			}
			select {
			case <-p.done:
				if !strings.Contains(p.output.String(), "No open connections left") && ctx.Err() == nil {
					done <- fmt.Errorf("slowhttptest ended: %v: %s", p.err, p.output.last(5))
					return
				}
			case <-ctx.Done():
			}
			p.end(syscall.SIGTERM)
			if pause(ctx, 100*time.Millisecond) != nil {
				done <- nil
				return
			}
		}
	}()
	stop := sync.OnceValue(func() error { cancel(); return <-done })
	s.later(func() { _ = stop() })
	return stop, <-first
}

// hold opens connections that say something and then do as they like, until the end is called.
func (s *scene) hold(ctx context.Context, clients int, begin func(conn net.Conn) error) (end func() error, err error) {
	conns := make([]net.Conn, clients)
	failures := make([]error, clients)
	slots := make(chan struct{}, 16)
	var wait sync.WaitGroup
	for i := range conns {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if conns[i], failures[i] = (&net.Dialer{}).DialContext(ctx, "tcp", s.server.addr); failures[i] == nil {
				failures[i] = begin(conns[i])
			}
		})
	}
	wait.Wait()
	return func() error {
		for _, conn := range conns {
			if conn != nil {
				_ = conn.Close()
			}
		}
		return nil
	}, errors.Join(failures...)
}

const requestHead = "POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"

// slowBodies are sent with a player's token, so that the server has to read them.
func (s *scene) slowBodies(ctx context.Context, by *outsider, clients int, span time.Duration) error {
	return s.bother(ctx, fmt.Sprintf("%d clients with a token and slow bodies", clients), span, func(ctx context.Context) (func() error, error) {
		ctx, cancel := context.WithCancel(ctx)
		var wait sync.WaitGroup
		end, err := s.hold(ctx, clients, func(conn net.Conn) error {
			wait.Go(func() {
				for pause(ctx, time.Second) == nil {
					if _, err := conn.Write([]byte(" ")); err != nil {
						return // the server has had enough
					}
				}
			})
			_, err := fmt.Fprintf(conn, requestHead, s.server.addr, by.token, 100_000)
			return err
		})
		return func() error { cancel(); wait.Wait(); return end() }, err
	})
}
