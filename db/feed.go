package db

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

const (
	feedChannel  = "context_manager_log"  // see log.announce in the migrations
	feedMemory   = 10_000                 // ids behind the newest that are looked at again after a lost connection
	feedRetry    = 500 * time.Millisecond // between attempts to reach the database again
	feedBatch    = 500                    // messages read at once
	feedBytes    = 8 << 20                // their content, in bytes
	maxFeedRange = 1 << 20                // ids in one announcement; a longer one is not ours
)

// feed tells subscribers of each message that is committed, whoever wrote it, on this server or another. It holds
// one connection of its own that listens, from the first subscriber on. As long as nobody subscribes it reads no
// messages.
type feed struct {
	store *DB
	start sync.Once
	ready chan struct{} // closed once it listens
	end   context.CancelFunc
	done  chan struct{}

	mu          sync.Mutex
	subscribers map[*Subscription]bool
	stopped     bool

	// Owned by the listening goroutine.
	high  int64          // the highest id that was told
	floor int64          // what is not above it was there before the feed began
	told  map[int64]bool // ids within feedMemory of high that were told
}

func newFeed(store *DB) *feed {
	return &feed{
		store: store, ready: make(chan struct{}), done: make(chan struct{}),
		subscribers: map[*Subscription]bool{}, told: map[int64]bool{},
	}
}

// launch lets the feed run, once.
func (f *feed) launch() {
	f.start.Do(func() {
		run, end := context.WithCancel(context.Background())
		f.mu.Lock()
		f.end = end
		f.mu.Unlock()
		go f.run(run)
	})
}

func (f *feed) add(s *Subscription) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.stopped:
		return errStopping
	case len(f.subscribers) >= MaxSubscribers:
		return fault.New(fault.Unavailable, "the server has %d subscribers to messages; at most as many are allowed", MaxSubscribers)
	}
	f.subscribers[s] = true
	return nil
}

func (f *feed) drop(s *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subscribers, s)
}

func (f *feed) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subscribers) == 0
}

// stop ends every subscription and the connection.
func (f *feed) stop() {
	f.start.Do(func() { close(f.done) }) // never started: nobody will
	f.mu.Lock()
	f.stopped = true
	for s := range f.subscribers {
		delete(f.subscribers, s)
		s.cut(errStopping)
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
	fresh := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return f.told[id] })
	slices.Sort(fresh)
	for len(fresh) > 0 {
		batch := fresh[:min(len(fresh), feedBatch)]
		if !f.idle() {
			messages, err := f.store.MessagesByID(ctx, batch, feedBytes)
			if err != nil {
				return err
			}
			batch = readOf(batch, messages)
			for i := range messages {
				f.hand(&messages[i])
			}
		}
		f.remember(batch)
		fresh = fresh[len(batch):]
	}
	return nil
}

// readOf gives the ids up to that of the last message. If there is none of them, that is all.
func readOf(ids []int64, messages []chain.Message) []int64 {
	if len(messages) == 0 {
		return ids
	}
	last, _ := slices.BinarySearch(ids, messages[len(messages)-1].ID)
	return ids[:last+1]
}

func (f *feed) hand(m *chain.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subscribers {
		if s.wants(m) && !s.put(m) {
			delete(f.subscribers, s)
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
