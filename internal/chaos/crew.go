package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// retryEvery is how long a writer waits before it repeats what was not acknowledged.
const retryEvery = 20 * time.Millisecond

// crew writes and reads all the time. Each writer repeats a message, with its idempotency key, until it is
// acknowledged, and notes it in the journal; so whenever the crew rests, the log must be the journal exactly.
type crew struct {
	s       *stage
	client  *client
	journal *journal
	writes  answers
	reads   answers

	open bool // the log may have what was sent and not acknowledged

	gate   sync.RWMutex // held for writing while the crew rests
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex
	failed error // of the journal: nothing can be said then
}

// load is how many write and read, and how fast at most.
type load struct {
	writers, readers int
	hot              int           // of the writers share one session
	think            time.Duration // of each, between requests
	bytes            int           // of content, at least
}

// readQuery reads what needs the database: the newest messages of a session, with what they name.
const readQuery = `query($s: Hash!) { session(hash: $s) { messages(last: 5) { edges { node { hash content owner { name } } } } } }`

// work starts a crew.
func (s *stage) work(ctx context.Context, v *server, l load) (*crew, error) {
	journal, err := openJournal(filepath.Join(s.dir, fmt.Sprintf("journal-%d", len(s.undo))))
	if err != nil {
		return nil, err
	}
	if !s.cfg.Full {
		l.think *= 5 // several faults are made at once
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &crew{s: s, client: v.client(l.writers + l.readers), journal: journal, cancel: cancel}
	for w := range l.writers {
		session := hashOf(fmt.Sprintf("session %d", max(w, l.hot)))
		c.wait.Go(func() { c.write(ctx, w, session, l) })
	}
	for range l.readers {
		c.wait.Go(func() { c.read(ctx, l) })
	}
	s.later(func() { c.stop(); journal.close() })
	return c, nil
}

// stop ends the crew. What was not acknowledged yet may or may not be in the log: rest first, to compare.
func (c *crew) stop() {
	c.cancel()
	c.wait.Wait()
	c.client.http.CloseIdleConnections()
}

// rest waits until all that was begun is acknowledged, and nothing more is begun until the resume.
func (c *crew) rest() (resume func()) {
	c.gate.Lock()
	return c.gate.Unlock
}

func (c *crew) write(ctx context.Context, writer int, session string, l load) {
	owner := hashOf(fmt.Sprintf("owner %d", writer))
	filler := filler(l.bytes)
	for i := 0; ctx.Err() == nil; i++ {
		content := fmt.Sprintf("writer %d, message %d%s", writer, i, filler)
		key := fmt.Sprintf("%d-%d", writer, i)
		c.gate.RLock()
		err := c.deliver(ctx, message{session, owner, content, key})
		c.gate.RUnlock()
		if err != nil {
			return
		}
		if pause(ctx, l.think) != nil {
			return
		}
	}
}

// deliver repeats a message until it is acknowledged, and notes it.
func (c *crew) deliver(ctx context.Context, m message) error {
	for {
		began := time.Now()
		asking, cancel := context.WithTimeout(ctx, patience)
		hash, err := c.client.append(asking, m)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		code, text := outcome(err)
		if err == nil {
			if err := c.journal.add(entry{hash, m.Session, m.Content}); err != nil {
				c.mu.Lock()
				c.failed = err
				c.mu.Unlock()
				return err
			}
		}
		c.writes.add(began, code, text)
		if err == nil {
			return nil
		}
		if err := pause(ctx, retryEvery); err != nil {
			return err
		}
	}
}

func (c *crew) read(ctx context.Context, l load) {
	session := hashOf(fmt.Sprintf("session %d", l.hot))
	for ctx.Err() == nil {
		began := time.Now()
		asking, cancel := context.WithTimeout(ctx, patience)
		err := c.client.ask(asking, readQuery, map[string]any{"s": session}, nil)
		cancel()
		if ctx.Err() != nil {
			return
		}
		code, text := outcome(err)
		c.reads.add(began, code, text)
		if pause(ctx, max(l.think, retryEvery)) != nil {
			return
		}
	}
}

// writing waits until a write that was begun after a time is acknowledged, and gives how long after it that was.
func (c *crew) writing(ctx context.Context, since time.Time, limit time.Duration) (time.Duration, error) {
	return first(ctx, &c.writes, since, limit, "a message is acknowledged")
}

// reading is the same for reads.
func (c *crew) reading(ctx context.Context, since time.Time, limit time.Duration) (time.Duration, error) {
	return first(ctx, &c.reads, since, limit, "a request is answered")
}

func first(ctx context.Context, a *answers, since time.Time, limit time.Duration, what string) (took time.Duration, err error) {
	_, err = until(ctx, limit, what, func() (ok bool) {
		took, ok = a.firstOK(since)
		return ok
	})
	return took, err
}

// filler gives so many bytes of text, none if n is 0.
func filler(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = " abcdefghijklmnopqrstuvwxyz "[i%28]
	}
	return string(text)
}
