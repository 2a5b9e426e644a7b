package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// Queued is how many calls wait for a writer.
func (d *DB) Queued() int { return len(d.writer.queue) }

// Gathered tells how many calls a writer gathers while a group of so many is being written, of as many as come a moment later; ends says
// that it is written a moment before any comes.
func Gathered(writing, come int, ends bool) int {
	w := &writer{queue: make(chan *appendCall, queueLength)}
	other := &sent{writing, make(chan struct{})}
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() {
		time.Sleep(turnPatience / 10)
		if ends {
			close(other.done)
			time.Sleep(turnPatience / 10)
		}
		for range come {
			w.queue <- &appendCall{drafts: make([]chain.Draft, 1)}
		}
	})
	group, _ := w.gather(&appendCall{drafts: make([]chain.Draft, 1)}, other)
	return len(group)
}

// AppendPassing writes a message as a group, and calls passed when the turn is passed on, with how many calls the next group is told of.
func (d *DB) AppendPassing(ctx context.Context, draft chain.Draft, passed func(writing int)) error {
	if err := draft.Validate("message"); err != nil {
		return err
	}
	call := &appendCall{ctx: ctx, drafts: []chain.Draft{draft}, done: make(chan struct{})}
	call.prepare()
	writing := func() int {
		if s := d.writer.sent[0].Load(); s != nil {
			return s.calls
		}
		return 0
	}
	pass := sync.OnceFunc(func() { passed(writing()) })
	_, err := d.writer.appendGroup(ctx, []*appendCall{call}, &shift{&d.writer.sent[0], &d.writer.sent[1], pass})
	if n := writing(); n != 0 {
		err = errors.Join(err, fmt.Errorf("a group of %d is still told of", n))
	}
	return err
}

// LoseWriter says that one of the writer's connections was lost.
func (d *DB) LoseWriter() { d.writer.pool.lose() }

// RememberClock lets the writer remember that Postgres' clock shows so much more.
func (d *DB) RememberClock(more time.Duration) {
	r := d.writer.recall
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(more)
}
