package db

import (
	"context"
	"sync"
	"time"
)

// clock tells the database's time without asking it each time: what it last said, and how long ago that was, which the
// setting of this machine's clock does not change. So servers whose clocks differ, or jump, agree with each other and
// with created_at.
type clock struct {
	mu   sync.Mutex
	said time.Time // by the database
	at   time.Time // when that was, by this machine's monotonic clock
}

// ask asks the database.
func (c *clock) ask(ctx context.Context, p *pool) error {
	conn, err := p.Acquire(ctx) // which may take a while, and is no part of the way there and back
	if err != nil {
		return err
	}
	defer conn.Release()
	began := time.Now()
	var said time.Time
	if err := conn.QueryRow(ctx, clockSQL).Scan(&said); err != nil {
		return err
	}
	at := began.Add(time.Since(began) / 2)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, c.at = said, at
	return nil
}

// Now is the database's clock, as far as it is known without asking. What ends is asked of the database itself.
func (d *DB) Now() time.Time {
	if d.Clock != nil {
		return d.Clock()
	}
	return d.clock.now()
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Add(time.Since(c.at))
}
