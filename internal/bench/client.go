package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
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
	answers  *bufio.Reader
	head     string // of each request, up to its length
	request  []byte
	answer   []byte
	requests [][]byte // bodies that are made before
	each     []time.Duration
}

func dial(ctx context.Context, endpoint, token string) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, answers: bufio.NewReader(conn),
		head: fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: ", endpoint, token)}, nil
}

func (r *run) connect(ctx context.Context, messages, sessions int, seed uint64) (*client, error) {
	c, err := dial(ctx, r.Endpoint, r.Token)
	if err != nil {
		return nil, err
	}
	words := newWriter(seed)
	for range max(2, requestPool/messages) {
		body, err := words.request(messages, sessions)
		if err != nil {
			return nil, err
		}
		c.requests = append(c.requests, body)
	}
	return c, nil
}

// ask sends a body and gives the answer's, which must begin as told. It lasts until the next one.
func (c *client) ask(body []byte, begins string) ([]byte, error) {
	c.request = strconv.AppendInt(append(c.request[:0], c.head...), int64(len(body)), 10)
	c.request = append(append(c.request, "\r\n\r\n"...), body...)
	if _, err := c.conn.Write(c.request); err != nil {
		return nil, err
	}
	length, status := -1, ""
	for {
		line, err := c.answers.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte("\r\n"))
		if len(line) == 0 {
			break
		}
		if status == "" {
			status = string(line)
		}
		if n, is := bytes.CutPrefix(line, []byte("Content-Length: ")); is {
			if length, err = strconv.Atoi(string(n)); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("the server answered %s and did not tell the length", status)
	}
	c.answer = slices.Grow(c.answer[:0], length)[:length]
	if _, err := io.ReadFull(c.answers, c.answer); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(c.answer, []byte(begins)) {
		return nil, fmt.Errorf("the server answered %s: %.300s", status, c.answer)
	}
	return c.answer, nil
}

func (c *client) run(ctx context.Context, end time.Time) error {
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		if !began.Before(end) {
			return nil
		}
		if _, err := c.ask(c.requests[i%len(c.requests)], `{"data":{"appendMessages":[{"hash":"`); err != nil {
			return err
		}
		c.each = append(c.each, time.Since(began))
	}
	return nil
}
