package bench

import (
	"context"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/bench/wire"
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
		defer c.Close()
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

// client appends over a connection of its own.
type client struct {
	*wire.Client
	requests [][]byte // bodies that are made before
	each     []time.Duration
}

func (r *run) connect(ctx context.Context, messages, sessions int, seed uint64) (*client, error) {
	c := &client{Client: wire.New(r.Endpoint, r.Token)}
	words := newWriter(seed)
	for range max(2, requestPool/messages) {
		body, err := words.request(messages, sessions)
		if err != nil {
			return nil, err
		}
		c.requests = append(c.requests, body)
	}
	return c, c.Ready(ctx)
}

func (c *client) run(ctx context.Context, end time.Time) error {
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		if !began.Before(end) {
			return nil
		}
		if _, err := c.Ask(c.requests[i%len(c.requests)], `{"data":{"appendMessages":[{"hash":"`); err != nil {
			return err
		}
		c.each = append(c.each, time.Since(began))
	}
	return nil
}
