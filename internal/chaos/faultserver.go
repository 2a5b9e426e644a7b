package chaos

import (
	"context"
	"math/rand/v2"
	"time"
)

// readyLimit is how soon a server must be ready after it is started.
const readyLimit = 2 * time.Second

// killServer kills the server at random moments under load. Its private Postgres goes with it, and recovers.
func killServer(ctx context.Context, s *stage) error {
	return s.kills(ctx, "", "SIGKILL, with its private Postgres; 8 writers", size(s, 3, 100))
}

// killServerAlone kills a server whose Postgres is elsewhere and goes on.
func killServerAlone(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	return s.kills(ctx, c.url(database), "SIGKILL, Postgres elsewhere; 8 writers", size(s, 3, 100))
}

func (s *stage) kills(ctx context.Context, database, done string, times int) error {
	v, err := s.serve(ctx, database)
	if err != nil {
		return err
	}
	o, err := s.observe(ctx, v)
	if err != nil {
		return err
	}
	c, err := s.work(ctx, v, varied)
	if err != nil {
		return err
	}
	var sum verdict
	var ready []time.Duration
	for range times {
		if _, err := c.writing(ctx, time.Now(), startLimit); err != nil {
			return err
		}
		if err := pause(ctx, time.Duration(rand.Int64N(int64(800*time.Millisecond)))); err != nil {
			return err
		}
		v.process.kill()
		took, err := v.start(ctx)
		if err != nil {
			return err
		}
		ready = append(ready, took)
		at, err := v.databaseURL()
		if err != nil {
			return err
		}
		if err := c.check(ctx, o, at, &sum); err != nil {
			return err
		}
	}
	s.nothingLost(done, times, &sum, o)
	s.timed(done, "ready after the start", ready, readyLimit)
	return nil
}
