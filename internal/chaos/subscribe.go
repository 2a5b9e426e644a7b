package chaos

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// perAddress is how many connections come from one address of loopback: well below the number of its ports.
const perAddress = 2000

// subscribers listen by server-sent events, each to one session.
type subscribers struct {
	list []*subscriber
	wait sync.WaitGroup
	open atomic.Int64
}

type subscriber struct {
	conn   net.Conn
	events atomic.Int64
	last   atomic.Pointer[string] // the hash that it was told last
}

const subscription = `subscription($s: [Hash!]) { messageAppended(sessions: $s) { hash } }`

// listening says with which token the n-th subscriber listens, and to which session.
type listening func(n int) (token, session string)

// apart lets the administrator listen to sessions of which each has one listener.
func (v *server) apart(n int) (token, session string) {
	return v.token, hashOf(fmt.Sprintf("listened to %d", n))
}

// subscribe opens so many subscriptions, some at a time, and returns once all are open.
func (v *server) subscribe(ctx context.Context, n, atOnce int, to listening) (*subscribers, error) {
	if err := enoughFiles(n); err != nil {
		return nil, err
	}
	crowd := &subscribers{list: make([]*subscriber, n)}
	v.s.later(crowd.close)
	var wait sync.WaitGroup
	failures := make(chan error, atOnce)
	for worker := range atOnce {
		wait.Go(func() {
			for i := worker; i < n && ctx.Err() == nil; i += atOnce {
				if err := crowd.join(ctx, v, i, to); err != nil {
					failures <- fmt.Errorf("subscriber %d: %w", i, err)
					return
				}
			}
		})
	}
	wait.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return crowd, err
	}
	return crowd, ctx.Err()
}

// enoughFiles tells whether the harness and the server may each have so many connections.
func enoughFiles(n int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if needed := uint64(n) + 1500; uint64(limit.Max) < needed { // of which the server keeps 1,000 for other things
		return fmt.Errorf("%d descriptors are allowed, and %d are needed; raise ulimit -n", limit.Max, needed)
	}
	return nil
}

func (c *subscribers) join(ctx context.Context, v *server, i int, to listening) error {
	dialer := net.Dialer{Timeout: 30 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i/perAddress))}}
	conn, err := dialer.DialContext(ctx, "tcp", v.addr)
	if err != nil {
		return err
	}
	token, session := to(i)
	query := url.Values{"query": {subscription}, "variables": {fmt.Sprintf(`{"s": [%q]}`, session)}}
	if _, err := fmt.Fprintf(conn, "GET /graphql?%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
		query.Encode(), v.addr, token); err != nil {
		return errors.Join(err, conn.Close())
	}
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	in := bufio.NewReaderSize(conn, 512)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	if answer.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("the server answers %s", answer.Status), conn.Close())
	}
	_ = conn.SetReadDeadline(time.Time{})
	one := &subscriber{conn: conn}
	c.list[i] = one
	c.open.Add(1)
	c.wait.Go(func() {
		defer c.open.Add(-1)
		for {
			line, err := in.ReadSlice('\n')
			if _, after, ok := bytes.Cut(line, []byte(`"hash":"`)); ok && len(after) > 64 {
				hash := string(after[:64])
				one.last.Store(&hash)
				one.events.Add(1)
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
	})
	return nil
}

func (c *subscribers) close() {
	for _, one := range c.list {
		if one != nil {
			_ = one.conn.Close()
		}
	}
	c.wait.Wait()
}
