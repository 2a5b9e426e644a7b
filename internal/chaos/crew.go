package chaos

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/auth"
)

// retryEvery is how long a writer waits before it repeats what was not acknowledged.
const retryEvery = 20 * time.Millisecond

// How long a writer repeats a message: lasting, if it is refused in a way that no later try changes; longest, if it is
// refused for the moment again and again, which is longer than any fault with its recovery. Then it gives the message up.
const (
	lasting = 10 * time.Second
	longest = 4 * time.Minute
)

// crew writes and reads all the time. Each writer repeats a message, with its idempotency key, until it is
// acknowledged, and notes it in the journal; so whenever the crew rests, the log must be the journal exactly. One half works
// with the administrator's token, the other with agents' tokens of their own players, in sessions of their own.
type crew struct {
	s       *stage
	client  *client // with the administrator's token
	agents  []*client
	journal *journal
	deeds   *doer // nil: none are done
	load    load
	lasting time.Duration
	writes  answers
	reads   answers

	open bool // the log may have what was sent and not acknowledged

	gate   sync.RWMutex // held for writing while the crew rests
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex
	failed error          // of the journal: nothing can be said then
	heads  map[string]int // by session: how many of its messages are acknowledged, at least
	given  []string       // messages that were given up, and why
}

// load is how many write and read, and how fast at most.
type load struct {
	writers, readers int
	hot              int           // of the writers share one session, at most half of them
	think            time.Duration // of each, between requests
	bytes            int           // of content, at least
	deeds            bool          // one more does what is no append
	herald           time.Duration // between messages of the last writer, if others are to listen to it
}

// admins is how many of so many work with the administrator's token: the first ones.
func admins(n int) int { return (n + 1) / 2 }

// session is where a writer writes.
func (l load) session(writer int) string {
	return hashOf(fmt.Sprintf("session %d", max(writer, l.hot-1)))
}

func ownerOf(writer int) string { return hashOf(fmt.Sprintf("owner %d", writer)) }

// readQuery reads what needs the database: the newest messages of a session, with what they name.
const readQuery = `query($s: Hash!) { session(hash: $s) { messages(last: 5) { edges { node { sequence content owner { name } } } } } }`

// work starts a crew.
func (s *stage) work(ctx context.Context, v *server, l load) (*crew, error) {
	journal, err := openJournal(filepath.Join(s.dir, fmt.Sprintf("journal-%d", len(s.undo))))
	if err != nil {
		return nil, err
	}
	if !s.cfg.Full {
		l.think *= 5 // several faults are made at once
	}
	working, cancel := context.WithCancel(ctx)
	c := &crew{s: s, client: v.client(l.writers + l.readers), journal: journal, load: l, lasting: lasting, cancel: cancel, heads: map[string]int{}}
	s.later(func() { c.stop(); journal.close() })
	if err := c.begin(ctx, l.session(0), "begin"); err != nil {
		return nil, err
	}
	for w := admins(l.writers); w < l.writers; w++ {
		secret, err := c.newToken(ctx, ownerOf(w), nil)
		if err != nil {
			return nil, err
		}
		c.agents = append(c.agents, c.client.with(secret))
	}
	if l.deeds {
		if c.deeds, err = c.doer(ctx, size(s, 5, spareTokens)); err != nil {
			return nil, err
		}
		c.wait.Go(func() { c.deeds.work(working) })
	}
	for w := range l.writers {
		c.wait.Go(func() { c.write(working, w) })
	}
	for r := range l.readers {
		c.wait.Go(func() { c.read(working, r) })
	}
	return c, nil
}

// begin begins a session as the administrator, who may then read it without a record of that in the log.
func (c *crew) begin(ctx context.Context, session, content string) error {
	m := message{session, auth.Administrator().Player.String(), content, hashOf(session + content)}
	hash, _, err := c.client.append(ctx, m)
	if err != nil {
		return fmt.Errorf("a session begins: %w", err)
	}
	return c.journal.add(entry{hash, m.Session, m.Content})
}

// stop ends the crew. What was not acknowledged yet may or may not be in the log: rest first, to compare.
func (c *crew) stop() {
	c.cancel()
	c.wait.Wait()
	c.client.http.CloseIdleConnections()
}

// rest waits until all that was begun is acknowledged or given up, and nothing more is begun until the resume.
func (c *crew) rest() (resume func()) {
	c.gate.Lock()
	return c.gate.Unlock
}

func (c *crew) write(ctx context.Context, writer int) {
	client := c.client
	if first := admins(c.load.writers); writer >= first {
		client = c.agents[writer-first]
	}
	session, filler, think := c.load.session(writer), filler(c.load.bytes), c.load.think
	if c.load.herald > 0 && writer == c.load.writers-1 {
		think = c.load.herald
	}
	for i := 0; ctx.Err() == nil; i++ {
		content := fmt.Sprintf("writer %d, message %d%s", writer, i, filler)
		key := fmt.Sprintf("%d-%d", writer, i)
		c.gate.RLock()
		err := c.deliver(ctx, writer, client, message{session, ownerOf(writer), content, key})
		c.gate.RUnlock()
		if err != nil {
			return
		}
		if pause(ctx, think) != nil {
			return
		}
	}
}

// deliver repeats a message until it is acknowledged, and notes it; or until it is given up, which is told by the next
// check.
func (c *crew) deliver(ctx context.Context, writer int, by *client, m message) error {
	first := time.Now()
	var refused time.Time // since when in a way that no later try changes
	for {
		began := time.Now()
		asking, cancel := context.WithTimeout(ctx, patience)
		hash, sequence, err := by.append(asking, m)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		code, text := outcome(err)
		if err == nil {
			err := c.journal.add(entry{hash, m.Session, m.Content})
			c.acknowledged(m.Session, sequence, err)
			if err != nil {
				return err
			}
		}
		c.writes.add(writer, began, code, text)
		switch {
		case err == nil:
			return nil
		case passing(code):
			refused = time.Time{}
		case refused.IsZero():
			refused = began
		}
		if !refused.IsZero() && time.Since(refused) >= c.lasting || time.Since(first) >= longest {
			c.giveUp("%.40q was not acknowledged in %s: %s %s", m.Content, short(time.Since(first)), code, text)
			return nil
		}
		if err := pause(ctx, retryEvery); err != nil {
			return err
		}
	}
}

// passing tells whether the next try may be answered otherwise.
func passing(code string) bool {
	switch code {
	case unavailable, limited, transport, silent:
		return true
	}
	return strings.HasPrefix(code, strconv.Itoa(http.StatusServiceUnavailable))
}

func (c *crew) giveUp(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.given = append(c.given, fmt.Sprintf(format, args...))
}

// acknowledged notes that so many messages of a session are, or why the journal does not say so.
func (c *crew) acknowledged(session string, sequence int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed = err
		return
	}
	c.heads[session] = max(c.heads[session], sequence)
}

func (c *crew) head(session string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heads[session]
}

// read reads a session again and again: the one that writers share, or with an agent's token the player's own. What was
// acknowledged before must be there.
func (c *crew) read(ctx context.Context, reader int) {
	client, session := c.client, c.load.session(0)
	if first := admins(c.load.readers); reader >= first {
		agent := (reader - first) % len(c.agents)
		client, session = c.agents[agent], c.load.session(admins(c.load.writers)+agent)
	}
	for ctx.Err() == nil {
		want, began := c.head(session), time.Now()
		var page struct {
			Session *struct {
				Messages struct {
					Edges []struct {
						Node struct {
							Sequence int `json:"sequence"`
						} `json:"node"`
					} `json:"edges"`
				} `json:"messages"`
			} `json:"session"`
		}
		asking, cancel := context.WithTimeout(ctx, patience)
		err := client.ask(asking, readQuery, map[string]any{"s": session}, &page)
		cancel()
		if ctx.Err() != nil {
			return
		}
		code, text := outcome(err)
		got := 0
		if page.Session != nil && len(page.Session.Messages.Edges) > 0 {
			got = page.Session.Messages.Edges[len(page.Session.Messages.Edges)-1].Node.Sequence
		}
		if err == nil && got < want {
			code, text = incomplete, fmt.Sprintf("%d messages are shown, and %d were acknowledged before", got, want)
		}
		c.reads.add(reader, began, code, text)
		if pause(ctx, max(c.load.think, retryEvery)) != nil {
			return
		}
	}
}

// writing waits until of each writer a write that was begun after a time is acknowledged, and gives how long after it the
// slowest was.
func (c *crew) writing(ctx context.Context, since time.Time, limit time.Duration) (time.Duration, error) {
	return all(ctx, &c.writes, since, limit, c.load.writers, "a message of each writer is acknowledged")
}

// reading is the same for reads.
func (c *crew) reading(ctx context.Context, since time.Time, limit time.Duration) (time.Duration, error) {
	return all(ctx, &c.reads, since, limit, c.load.readers, "a request of each reader is answered")
}

func all(ctx context.Context, a *answers, since time.Time, limit time.Duration, clients int, what string) (took time.Duration, err error) {
	_, err = until(ctx, limit, what, func() (ok bool) {
		took, ok = a.allOK(since, clients)
		return ok
	})
	return took, err
}

// served tells, in words as well, whether all of some requests were answered. A machine that does other work as well may keep
// one waiting until its limit, which is a matter of speed as the p99 is: there, one in fifty may be told to come again.
func (c *crew) served(list []answer) (words string, ok bool) {
	words = tally(list)
	again, allowed := count(list, unavailable), 0
	if again > 0 {
		words += fmt.Sprintf(": %q", strings.TrimSpace(c.writes.message(unavailable)+" "+c.reads.message(unavailable)))
	}
	if c.s.cfg.Patience > 1 {
		allowed = 1 + len(list)/50
	}
	return words, count(list, answered) == len(list)-again && again <= allowed && len(list) > again
}

// filler gives so many bytes of text, none if n is 0.
func filler(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = " abcdefghijklmnopqrstuvwxyz "[i%28]
	}
	return string(text)
}
