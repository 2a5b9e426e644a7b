// Package wire is a client of the API that does little else than what HTTP asks for: what is measured through it is the
// server, and as little as can be of the client, which works on the same processors.
package wire

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"
)

// idle is how long a connection may have been without use. The server closes it a little later.
const idle = 50 * time.Second

// Client is one connection that is kept open. Make it with New; one goroutine may use it at a time.
type Client struct {
	endpoint string
	conn     net.Conn // nil: not yet
	answers  *bufio.Reader
	head     string // of each request, up to its length
	request  []byte
	answer   []byte
	used     time.Time
}

// New makes a client of an endpoint, a host and a port, that asks on behalf of whom the token is of.
func New(endpoint, token string) *Client {
	return &Client{endpoint: endpoint, head: fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Authorization: Bearer %s\r\nContent-Length: ", endpoint, token)}
}

// Ready connects, unless that was done and the server keeps the connection still. The first request has to follow soon.
func (c *Client) Ready(ctx context.Context) error {
	if c.conn != nil && time.Since(c.used) < idle {
		return nil
	}
	c.Close()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.endpoint)
	if err != nil {
		return err
	}
	c.conn, c.answers, c.used = conn, bufio.NewReader(conn), time.Now()
	return nil
}

// Close closes the connection.
func (c *Client) Close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// Ask sends a body, once the client is Ready, and gives the answer's, which must begin as told. It lasts until the next one.
func (c *Client) Ask(body []byte, begins string) ([]byte, error) {
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
	c.used = time.Now()
	if !bytes.HasPrefix(c.answer, []byte(begins)) {
		return nil, fmt.Errorf("the server answered %s: %.300s", status, c.answer)
	}
	return c.answer, nil
}
