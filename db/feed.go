package db

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

const (
	feedChannel  = "context_manager_log"  // see log.follow_messages in the migrations
	feedMemory   = 10_000                 // ids behind the newest that are looked at again after a lost connection
	feedRetry    = 500 * time.Millisecond // between attempts to reach the database again
	feedPoll     = 250 * time.Millisecond // between looks at what is new, while nothing is announced
	feedLook     = 2 * time.Second        // between looks further back: for what became visible late, or was not announced
	feedSilence  = 5 * time.Second        // after which the connection that listens has to show that it lives
	feedBatch    = 500                    // messages read at once
	feedBytes    = 8 << 20                // their content, in bytes
	maxFeedRange = 1 << 20                // ids in one announcement; a longer one is not ours
)

// feed tells subscribers of each message that is committed, whoever wrote it, on this server or another. From the first
// subscriber on it holds one connection of its own that listens. Announcements may stay away, as behind a pooler and
// while that connection is lost, so it looks for itself as well: all the time as long as it cannot listen, and now and
// then while it can. As long as nobody subscribes it reads no messages.
type feed struct {
	store *DB
	start sync.Once
	ready chan struct{} // closed once it knows where the log ends
	end   context.CancelFunc
	done  chan struct{}

	mu          sync.Mutex
	subscribers map[*Subscription]bool
	of          map[chain.Hash]map[*Subscription]bool // those of them who want messages of a session, or, by the zero hash, of any
	seen        map[chain.Hash]*seenSessions          // of players who subscribe
	stopped     bool

	held      atomic.Int64 // bytes of messages that wait for somebody
	maxHeld   int64        // maxHeldBytes, but for tests
	listening atomic.Bool
	heard     chan struct{} // holds one if something was announced since

	noted struct {
		sync.Mutex
		all   [][]int64 // announced, in order
		count int       // of ids
		look  bool      // more was, or may have been: look
	}

	// Owned by the goroutine that runs.
	high  int64          // the highest id that was told
	floor int64          // what is not above it was there before the feed began
	told  map[int64]bool // ids within feedMemory of high that were told
	bytes portion        // of content that is read at once

	wanting []*Subscription // of one message; kept for its room
	pace    pace
}

func newFeed(store *DB) *feed {
	return &feed{
		store: store, ready: make(chan struct{}), done: make(chan struct{}),
		subscribers: map[*Subscription]bool{}, of: map[chain.Hash]map[*Subscription]bool{}, seen: map[chain.Hash]*seenSessions{}, told: map[int64]bool{}, heard: make(chan struct{}, 1), maxHeld: maxHeldBytes, bytes: newPortion(feedBytes),
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
		f.remove(s)
		s.cut(errStopping)
	}
	end := f.end
	f.mu.Unlock()
	if end != nil {
		end()
	}
	<-f.done
}

// run tells until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	if !f.begin(ctx) {
		return
	}
	var listener sync.WaitGroup
	defer listener.Wait()
	if config, lasting := f.store.sessionConfig(map[string]string{"application_name": "context-manager feed"}); lasting {
		listener.Go(func() { f.listen(ctx, config) })
	}
	next, looked := time.NewTimer(feedPoll), time.Now()
	defer next.Stop()
	for {
		pause, further := feedPoll, time.Since(looked) >= feedLook
		var err error
		select {
		case <-ctx.Done():
			return
		case <-f.heard:
			var all [][]int64
			if all, further = f.announced(); further {
				err = f.catchUp(ctx, true)
				break
			}
			for i := 0; i < len(all) && err == nil; i++ {
				err = f.tell(ctx, all[i])
			}
			if further = time.Since(looked) >= feedLook; further && err == nil {
				err = f.catchUp(ctx, true)
			}
		case <-next.C:
			if !f.listening.Load() || further {
				err = f.catchUp(ctx, further)
			}
		}
		switch {
		case err != nil: // what was announced is found by looking
			looked, pause = time.Time{}, feedRetry
			if ctx.Err() == nil {
				f.store.log.WarnContext(ctx, "messages cannot be read for subscribers", "cause", err)
			}
		case further:
			looked = time.Now()
		}
		next.Reset(pause)
	}
}

// begin finds where the log ends: only what comes from then on is told. It tells whether there is anything to do.
func (f *feed) begin(ctx context.Context) bool {
	for ctx.Err() == nil {
		position, err := f.logEnd(ctx)
		if err == nil {
			f.high, f.floor = position, position
			close(f.ready)
			return true
		}
		f.store.log.WarnContext(ctx, "the feed does not find the log's end", "cause", err)
		wait(ctx, feedRetry)
	}
	return false
}

func (f *feed) logEnd(ctx context.Context) (int64, error) {
	ctx, end := f.store.pool.bounded(ctx)
	defer end()
	return f.store.queries().LogEnd(ctx)
}

// listen hears what is announced until ctx ends, and connects again whenever the connection is lost.
func (f *feed) listen(ctx context.Context, config *pgx.ConnConfig) {
	for ctx.Err() == nil {
		err := f.hear(ctx, config)
		f.listening.Store(false)
		if err != nil && ctx.Err() == nil {
			f.store.log.WarnContext(ctx, "the feed lost its connection", "cause", err)
		}
		wait(ctx, feedRetry)
	}
}

// hear hears what is announced on one connection.
func (f *feed) hear(ctx context.Context, config *pgx.ConnConfig) error {
	ctx, end := f.store.pool.untilReplaced(ctx)
	defer end()
	asking, asked := f.store.pool.bounded(ctx)
	defer asked()
	conn, err := pgx.ConnectConfig(asking, config.Copy())
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(asking, "LISTEN "+feedChannel); err != nil {
		return err
	}
	f.listening.Store(true)
	f.note(nil) // what was written while nobody listened
	for {
		waiting, cancel := context.WithTimeout(ctx, feedSilence)
		note, err := conn.WaitForNotification(waiting)
		silent := waiting.Err() != nil && ctx.Err() == nil && !conn.IsClosed()
		cancel()
		switch {
		case err == nil:
			if ids := parseRanges(note.Payload); len(ids) > 0 {
				f.note(ids)
			}
			continue
		case silent: // is anybody there?
			waiting, cancel = context.WithTimeout(ctx, feedLook)
			err = conn.Ping(waiting)
			cancel()
		}
		if err != nil {
			return err
		}
	}
}

// note takes down what was announced; nothing means that something may have been. It never waits: Postgres keeps what is
// announced until everybody has heard it.
func (f *feed) note(ids []int64) {
	f.noted.Lock()
	f.noted.all, f.noted.count = append(f.noted.all, ids), f.noted.count+len(ids)
	if ids == nil || f.noted.count > feedMemory {
		f.noted.all, f.noted.count, f.noted.look = nil, 0, true
	}
	f.noted.Unlock()
	select {
	case f.heard <- struct{}{}:
	default:
	}
}

// announced gives what was taken down since the last time.
func (f *feed) announced() (all [][]int64, look bool) {
	f.noted.Lock()
	defer f.noted.Unlock()
	all, look = f.noted.all, f.noted.look
	f.noted.all, f.noted.count, f.noted.look = nil, 0, false
	return all, look
}

// catchUp tells what is there and was not told. Ids can become visible out of order, so further means some way back.
func (f *feed) catchUp(ctx context.Context, further bool) error {
	after := f.high
	if further && !f.idle() {
		after = max(f.floor, f.high-feedMemory)
	}
	for {
		ids, err := f.idsAfter(ctx, after)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := f.tell(ctx, ids); err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
}

func (f *feed) idsAfter(ctx context.Context, after int64) ([]int64, error) {
	ctx, end := f.store.pool.bounded(ctx)
	defer end()
	return f.store.queries().MessageIDsAfter(ctx, after, feedMemory)
}

// tell hands messages to the subscribers, those that were told before left out.
func (f *feed) tell(ctx context.Context, ids []int64) error {
	fresh := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return f.told[id] })
	slices.Sort(fresh)
	for len(fresh) > 0 {
		batch := fresh[:min(len(fresh), feedBatch)]
		if !f.idle() {
			messages, err := f.read(ctx, batch)
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

// read gives the first of some messages, as many as are read at once.
func (f *feed) read(ctx context.Context, ids []int64) ([]chain.Message, error) {
	ctx, end := f.store.pool.bounded(ctx)
	defer end()
	messages, err := f.store.MessagesByID(ctx, ids, f.bytes.now)
	f.bytes.learn(ctx, err)
	return messages, err
}

// readOf gives the ids up to that of the last message. If there is none of them, that is all.
func readOf(ids []int64, messages []chain.Message) []int64 {
	if len(messages) == 0 {
		return ids
	}
	last, _ := slices.BinarySearch(ids, messages[len(messages)-1].ID)
	return ids[:last+1]
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
