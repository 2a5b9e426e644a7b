package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// acquireLimit is how long a request may wait for a connection.
const acquireLimit = time.Second

// crowd holds every connection that there is.
type crowd struct {
	mu     sync.Mutex
	held   []*pgx.Conn
	full   atomic.Bool
	cancel context.CancelFunc
	wait   sync.WaitGroup
}

// crowd takes all connections, also those that become free.
func (c *cluster) crowd(ctx context.Context) *crowd {
	ctx, cancel := context.WithCancel(ctx)
	w := &crowd{cancel: cancel}
	for range 16 {
		w.wait.Go(func() {
			for ctx.Err() == nil {
				conn, err := c.connect(ctx)
				if err != nil {
					if w.full.Load() {
						_ = pause(ctx, time.Millisecond)
					}
					continue // at once, as long as others have some: who waits is late
				}
				w.mu.Lock()
				w.held = append(w.held, conn)
				w.mu.Unlock()
			}
		})
	}
	return w
}

func (w *crowd) leave(ctx context.Context) error {
	w.cancel()
	w.wait.Wait()
	for _, conn := range w.held {
		_ = conn.Close(ctx)
	}
	w.held = nil
	return nil
}

// noConnections takes all connections that Postgres has, and then those of the server's pool for reading.
func noConnections(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, map[string]string{"max_connections": "40"})
	if err != nil {
		return err
	}
	scene, err := s.scene(ctx, c.url(database), usual)
	if err != nil {
		return err
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var others *crowd
	s.later(func() {
		if others != nil {
			_ = others.leave(context.Background())
		}
	})
	var began time.Time
	var waited []time.Duration
	hold := size(s, 3*time.Second, 10*time.Second)
	done := fmt.Sprintf("others take all connections for %s, the server's are ended", hold)
	err = scene.disrupt(ctx, disruption{
		done: done, times: size(s, 1, 10), hold: hold, again: healthyLimit,
		begin: func(ctx context.Context) error {
			others = c.crowd(ctx)
			// The server's go last, so that others wait for each.
			_, err := until(ctx, startLimit, "all connections are taken", func() bool {
				if probe, err := c.connect(ctx); err == nil {
					_ = probe.Close(ctx)
					return false
				}
				_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE application_name LIKE 'context-manager%'`)
				var left int
				if err == nil {
					err = conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
						WHERE application_name LIKE 'context-manager%'`).Scan(&left)
				}
				probe, failed := c.connect(ctx)
				if failed == nil {
					_ = probe.Close(ctx)
				}
				return err == nil && left == 0 && failed != nil && strings.Contains(failed.Error(), "53300")
			})
			others.full.Store(true)
			began = time.Now()
			return err
		},
		end: func(ctx context.Context) error {
			err := scene.refused(ctx, began)
			refused := append(scene.crew.writes.since(began), scene.crew.reads.since(began)...)
			waited = append(waited, durations(refused, unavailable)...)
			return errors.Join(err, others.leave(ctx))
		},
	})
	if err != nil {
		return err
	}
	s.timedAt(done, size(s, 1, 10), "refused in time", percentile(waited, 1), acquireLimit+answerSlack)
	return scene.stuckReads(ctx, c)
}

// stuckReads lets reads wait for a lock, as slow ones do, until they have all the connections that reads may have.
func (s *scene) stuckReads(ctx context.Context, c *cluster) error {
	const readers = 64
	hold := size(s.stage, 3*time.Second, 10*time.Second)
	done := fmt.Sprintf("%d reads wait for a lock for %s", readers, hold)
	before := percentile(durations(s.crew.writes.since(time.Now().Add(-2*time.Second)), answered), 0.99)
	holder, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer holder.Close(context.WithoutCancel(ctx))
	// Components are read for every page and written by nobody here.
	if _, err := holder.Exec(ctx, "BEGIN; LOCK TABLE core.players IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	began := time.Now()
	var reads answers
	client := s.server.client(readers)
	asking, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	var wait sync.WaitGroup
	for r := range readers {
		wait.Go(func() {
			for asking.Err() == nil {
				at := time.Now()
				err := client.ask(asking, readQuery, map[string]any{"s": s.crew.load.session(0)}, nil)
				if asking.Err() != nil {
					return
				}
				code, text := outcome(err)
				reads.add(r, at, code, text)
			}
		})
	}
	wait.Wait()
	_, err = holder.Exec(ctx, "COMMIT")
	gone := time.Now()
	if err != nil {
		return err
	}
	writes := s.crew.writes.between(began, gone)
	measured, ok := s.crew.served(writes)
	s.found(done, 1, "writes go on", fmt.Sprintf("%s; p99 %s, %s before", measured, short(percentile(durations(writes, answered), 0.99)), short(before)), ok, nil)
	refused := reads.since(began)
	s.found(done, 1, "other reads are refused with UNAVAILABLE", tally(refused), len(refused) > 0 && count(refused, unavailable) == len(refused), nil)
	s.timedAt(done, 1, "refused in time", percentile(durations(refused), 1), acquireLimit+answerSlack)
	took, err := s.crew.reading(ctx, gone, recoveryLimit)
	if err != nil {
		return err
	}
	s.timed(done, "every reader reading again", []time.Duration{took}, healthyLimit)
	var sum verdict
	if err := s.crew.check(ctx, s.observer, c.url(database), &sum); err != nil {
		return err
	}
	s.nothingLost(done, 1, &sum, s.observer)
	return nil
}
