package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// turn is what one turn of a measurement did.
type turn struct {
	messages int
	took     time.Duration
	each     []time.Duration // of the requests, or statements
}

// requestPool is how many different requests each connection has ready. They are made before the clock runs.
const requestPool = 64

// appendByHTTP sends requests of so many messages over so many connections for as long as a turn, and counts what was
// acknowledged.
func (r *run) appendByHTTP(ctx context.Context, connections, messages, sessions int, seed uint64) (turn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clients := make([]*client, connections)
	for i := range clients {
		c, err := r.connect(ctx, messages, sessions, seed+uint64(i))
		if err != nil {
			return turn{}, err
		}
		defer c.conn.Close()
		clients[i] = c
	}
	start := time.Now()
	end := start.Add(r.Turn)
	var wait sync.WaitGroup
	for _, c := range clients {
		wait.Go(func() {
			if err := c.run(ctx, end); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	done := turn{took: time.Since(start)}
	for _, c := range clients {
		done.messages += messages * len(c.each)
		done.each = append(done.each, c.each...)
	}
	return done, context.Cause(ctx)
}

// client is one connection of HTTP that is kept open. It does little else than what HTTP asks for, so that what is
// measured is the server.
type client struct {
	conn     net.Conn
	requests [][]byte
	each     []time.Duration
}

func (r *run) connect(ctx context.Context, messages, sessions int, seed uint64) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.Endpoint)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn}
	words := newWriter(seed)
	for range max(2, requestPool/messages) {
		body, err := words.request(messages, sessions)
		if err != nil {
			return nil, err
		}
		head := fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
			r.Endpoint, r.Token, len(body))
		c.requests = append(c.requests, append([]byte(head), body...))
	}
	return c, nil
}

func (c *client) run(ctx context.Context, end time.Time) error {
	answers := bufio.NewReader(c.conn)
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		if !began.Before(end) {
			return nil
		}
		if _, err := c.conn.Write(c.requests[i%len(c.requests)]); err != nil {
			return err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(body, []byte(`{"data":{"appendMessages":[{"hash":"`)) {
			return fmt.Errorf("the server answered %s: %.300s", answer.Status, body)
		}
		c.each = append(c.each, time.Since(began))
	}
	return nil
}
