package db

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

const (
	feedChannel  = "context_manager_log"  // see log.announce in the migrations
	feedBuffer   = 1024                   // messages that a subscriber may lag behind before it is cut off
	feedMemory   = 10_000                 // ids behind the newest that are looked at again after a lost connection
	feedRetry    = 500 * time.Millisecond // between attempts to reach the database again
	feedBatch    = 500                    // messages read at once
	maxFeedRange = 1 << 20                // ids in one announcement; a longer one is not ours
)

// feed tells subscribers of each message that is committed, whoever wrote it, on this server or another. It holds
// one connection of its own that listens, from the first subscriber on.
type feed struct {
	store *DB
	start sync.Once
	ready chan struct{} // closed once it listens
	end   context.CancelFunc
	done  chan struct{}

	mu          sync.Mutex
	subscribers map[*subscriber]bool
	stopped     bool

	// Owned by the listening goroutine.
	high  int64          // the highest id that was told
	floor int64          // what is not above it was there before the feed began
	told  map[int64]bool // ids within feedMemory of high that were told
}

type subscriber struct {
	wants func(*chain.Message) bool
	out   chan chain.Message
}

func newFeed(store *DB) *feed {
	return &feed{
		store: store, ready: make(chan struct{}), done: make(chan struct{}),
		subscribers: map[*subscriber]bool{}, told: map[int64]bool{},
	}
}

// Subscribe gives every message that wants takes and that is committed after Subscribe returned, each once, in the
// order of commits. The channel is closed when ctx ends, when the store closes, or when its reader falls more than
// feedBuffer messages behind.
func (d *DB) Subscribe(ctx context.Context, wants func(*chain.Message) bool) (<-chan chain.Message, error) {
	f := d.feed
	f.start.Do(func() {
		run, end := context.WithCancel(context.Background())
		f.mu.Lock()
		f.end = end
		f.mu.Unlock()
		go f.run(run)
	})
	select {
	case <-f.ready:
	case <-f.done:
	case <-ctx.Done():
		return nil, mapError(ctx.Err())
	}
	s := &subscriber{wants: wants, out: make(chan chain.Message, feedBuffer)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		close(s.out)
		return s.out, nil
	}
	f.subscribers[s] = true
	context.AfterFunc(ctx, func() { f.drop(s) })
	return s.out, nil
}

func (f *feed) drop(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subscribers[s] {
		delete(f.subscribers, s)
		close(s.out)
	}
}

// stop closes every subscriber's channel and the connection.
func (f *feed) stop() {
	f.start.Do(func() { close(f.done) }) // never started: nobody will
	f.mu.Lock()
	f.stopped = true
	for s := range f.subscribers {
		delete(f.subscribers, s)
		close(s.out)
	}
	end := f.end
	f.mu.Unlock()
	if end != nil {
		end()
	}
	<-f.done
}

// run listens until ctx ends, and connects again whenever the connection is lost.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	for ctx.Err() == nil {
		if err := f.listen(ctx); err != nil && ctx.Err() == nil {
			f.store.log.WarnContext(ctx, "the feed lost its connection", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(feedRetry):
		}
	}
}

func (f *feed) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, f.store.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+feedChannel); err != nil {
		return err
	}
	if err := f.catchUp(ctx); err != nil {
		return err
	}
	for {
		note, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if err := f.tell(ctx, parseRanges(note.Payload)); err != nil {
			return err
		}
	}
}

// catchUp tells what was written while nobody listened. Ids can become visible out of order, so it looks some way
// back for those that were not told.
func (f *feed) catchUp(ctx context.Context) error {
	select {
	case <-f.ready:
	default: // the first time: only what comes from now on
		position, _, err := f.store.LogPosition(ctx)
		if err != nil {
			return err
		}
		f.high, f.floor = position, position
		close(f.ready)
		return nil
	}
	for after := max(f.floor, f.high-feedMemory); ; {
		ids, err := f.store.queries().MessageIDsAfter(ctx, after, feedMemory)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := f.tell(ctx, ids); err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
}

// tell hands messages to the subscribers, those that were told before left out.
func (f *feed) tell(ctx context.Context, ids []int64) error {
	var fresh []int64
	for _, id := range ids {
		if !f.told[id] {
			fresh = append(fresh, id)
		}
	}
	for len(fresh) > 0 {
		batch := fresh[:min(len(fresh), feedBatch)]
		fresh = fresh[len(batch):]
		messages, err := f.store.MessagesByID(ctx, batch)
		if err != nil {
			return err
		}
		for i := range messages {
			f.hand(&messages[i])
		}
		f.remember(batch)
	}
	return nil
}

func (f *feed) hand(m *chain.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subscribers {
		if !s.wants(m) {
			continue
		}
		select {
		case s.out <- *m:
		default: // it has fallen behind; it is better told by an end than by a hole
			delete(f.subscribers, s)
			close(s.out)
		}
	}
}

func (f *feed) remember(ids []int64) {
	for _, id := range ids {
		f.told[id] = true
		f.high = max(f.high, id)
	}
	if len(f.told) > 2*feedMemory {
		for id := range f.told {
			if id < f.high-feedMemory {
				delete(f.told, id)
			}
		}
	}
}

// parseRanges reads an announcement such as "7-9,12-12". What is not one gives nothing.
func parseRanges(payload string) []int64 {
	var ids []int64
	for part := range strings.SplitSeq(payload, ",") {
		from, to, ok := strings.Cut(part, "-")
		first, err1 := strconv.ParseInt(from, 10, 64)
		last, err2 := strconv.ParseInt(to, 10, 64)
		if !ok || err1 != nil || err2 != nil || last < first || last-first > maxFeedRange {
			continue
		}
		for id := first; id <= last; id++ {
			ids = append(ids, id)
		}
	}
	return ids
}
