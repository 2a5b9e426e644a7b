package db

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of one group commit. A call larger than that goes alone.
const (
	groupMessages = 1000
	groupBytes    = 8 << 20
	groupTimeout  = 15 * time.Second
	groupDoubt    = 2 * time.Second // after which it is looked whether the database is there at all
	writers       = 2               // one reads while the other writes, unless a session that others hold keeps it waiting
	turnPatience  = 10 * time.Millisecond
	sentPatience  = 5 * time.Millisecond // of a group that was planned behind another
	queueLength   = 1024                 // calls; more are refused
	queueBytes    = 64 << 20             // their text, also in the groups that are being written
	lockTimeout   = 10 * time.Second     // for sessions that others hold; then each call of a group is tried alone
)

var errQueueFull = fault.New(fault.Unavailable, "too many appends wait already; nothing was written, try again")

// appendCall is one request to append, on its way through the writer.
type appendCall struct {
	ctx      context.Context
	viewer   *chain.Hash // who appends, and only to what they may see; nil may append anywhere
	drafts   []chain.Draft
	prepared []prepared // one a draft
	exchange *exchange  // what else the messages are; nil: nothing
	between  bool       // the two of each message, of whom one must have begun its session
	bytes    int
	taken    *atomic.Int64 // counts the bytes of calls that are not answered
	done     chan struct{} // closed once result and err are set
	result   []chain.Message
	err      error
}

func (c *appendCall) finish(result []chain.Message, err error) {
	c.result, c.err = result, err
	c.taken.Add(-int64(c.bytes))
	close(c.done)
}

// writer gathers what concurrent requests append and commits it together: one wait for the disk serves all. It has
// connections of its own, so that slow reads never hold up an append.
type writer struct {
	pool    *pool
	index   *indexer
	queue   chan *appendCall
	bytes   atomic.Int64  // of calls that were taken and are not answered
	written atomic.Int64  // messages, counted before their callers hear of them
	turn    chan struct{} // holds one while a writer has its turn
	sent    [writers]atomic.Pointer[sent]
	recall  *recall
	mu      sync.RWMutex // closed is set, and queue closed, under the write lock
	ended   bool
	wait    sync.WaitGroup
}

// sent is a group whose rows are on their way.
type sent struct {
	calls int
	done  chan struct{} // closed once they are written, or not
}

// startWriter starts a writer, which tells index what it wrote.
func startWriter(ctx context.Context, address *address, index *indexer) (*writer, error) {
	// Its few statements are planned once. They must then not be planned for a log of one page: by index always. Behind a
	// pooler they are planned each time.
	config := address.with(map[string]string{"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_sort": "off",
		"idle_in_transaction_session_timeout": "10s"}) // a session's lock is held no longer by nobody
	config.MaxConns, config.MinConns, config.MinIdleConns = writers, writers, 0
	pool, err := newPool(ctx, config)
	if err != nil {
		return nil, err
	}
	w := &writer{pool: pool, index: index, queue: make(chan *appendCall, queueLength), turn: make(chan struct{}, 1), recall: newRecall()}
	for i := range writers {
		w.wait.Go(func() { w.run(&w.sent[i], &w.sent[1-i]) })
	}
	return w, nil
}

// stop takes no more calls, answers those that were taken and closes the writer's connections.
func (w *writer) stop() {
	w.mu.Lock()
	if !w.ended {
		w.ended = true
		close(w.queue)
	}
	w.mu.Unlock()
	w.wait.Wait()
	w.pool.Close()
}

// submit queues a call and waits for its outcome. When ctx ends first, the call may still be committed.
func (w *writer) submit(call *appendCall) ([]chain.Message, error) {
	if err := w.enqueue(call); err != nil {
		return nil, err
	}
	select {
	case <-call.done:
		return call.result, call.err
	case <-call.ctx.Done():
		return nil, fault.Wrap(call.ctx.Err(), fault.Unavailable,
			"the request ended before the messages were known to be written; with idempotency keys it can be repeated safely")
	}
}

func (w *writer) enqueue(call *appendCall) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.ended {
		return fault.New(fault.Unavailable, "the server is stopping")
	}
	if w.bytes.Add(int64(call.bytes)) > queueBytes {
		w.bytes.Add(-int64(call.bytes))
		return errQueueFull
	}
	call.taken = &w.bytes
	select {
	case w.queue <- call:
		return nil
	default:
		w.bytes.Add(-int64(call.bytes))
		return errQueueFull
	}
}

// shift is a writer's, for one group.
type shift struct {
	own, other *atomic.Pointer[sent] // what this writer, and the other, has on its way
	pass       func()                // passes the turn on
}

// wait waits for the other writer's group to be written, but not for long: it may wait for a session itself.
func (s *shift) wait() {
	other := s.other.Load()
	if other == nil {
		return
	}
	timer := time.NewTimer(sentPatience)
	defer timer.Stop()
	select {
	case <-other.done:
	case <-timer.C:
	}
}

// sends says that a group of so many calls is about to be sent; done, that it is written, or not.
func (s *shift) sends(calls int) (done func()) {
	group := &sent{calls, make(chan struct{})}
	s.own.Store(group)
	return func() {
		s.own.Store(nil)
		close(group.done)
	}
}

func (w *writer) run(own, other *atomic.Pointer[sent]) {
	var next *appendCall // taken from the queue, and too large for the group before
	for {
		first := next
		if next = nil; first == nil {
			var open bool
			if first, open = <-w.queue; !open {
				return
			}
		}
		s := &shift{own, other, w.await()}
		var group []*appendCall
		group, next = w.gather(first, other.Load())
		w.commit(group, s)
		s.pass()
	}
}

// await waits for the other writer to pass the turn on, so that groups are as large as can be, or to be late. It gives what passes
// it on; all but the first call do nothing.
func (w *writer) await() (pass func()) {
	timer := time.NewTimer(turnPatience)
	defer timer.Stop()
	select {
	case w.turn <- struct{}{}:
		return sync.OnceFunc(func() { <-w.turn })
	case <-timer.C:
		return func() {}
	}
}

// gather takes what waits in the queue, up to the limits of a group. While the other writer's group is being written, it takes as many
// calls as that has: half of all then wait for the database, and the others are answered and come again.
func (w *writer) gather(first *appendCall, other *sent) (group []*appendCall, next *appendCall) {
	group = []*appendCall{first}
	messages, bytes := len(first.drafts), first.bytes
	timer := time.NewTimer(turnPatience)
	defer timer.Stop()
	for {
		var call *appendCall
		open := true
		select {
		case call, open = <-w.queue:
		default:
			if other == nil || len(group) >= other.calls {
				return group, nil
			}
			select {
			case call, open = <-w.queue:
			case <-other.done:
				other = nil
				continue
			case <-timer.C:
				return group, nil
			}
		}
		if !open {
			return group, nil
		}
		if messages+len(call.drafts) > groupMessages || bytes+call.bytes > groupBytes {
			return group, call
		}
		group = append(group, call)
		messages, bytes = messages+len(call.drafts), bytes+call.bytes
	}
}

// commit writes a group, each call all or nothing. A call that turns out to be wrong is answered and leaves the
// others alone; when something in the group makes the database refuse it, each call is tried by itself. It is not
// when the database cannot serve, or when the group may have been written: then every call is told so. The turn is passed on
// when all rows are sent.
func (w *writer) commit(group []*appendCall, s *shift) {
	live := group[:0]
	for _, call := range group {
		if err := call.ctx.Err(); err != nil {
			call.finish(nil, fault.Wrap(err, fault.Unavailable, "the request ended before its turn; nothing was written"))
			continue
		}
		live = append(live, call)
	}
	if len(live) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	w.index.room(ctx)
	outcomes, err := w.appendGroup(ctx, live, s)
	switch {
	case err == nil:
		written, alone := 0, len(live) == 1 && w.bytes.Load() == int64(live[0].bytes)
		for i := range outcomes {
			written += len(outcomes[i].messages)
		}
		w.written.Add(int64(written))
		for i, call := range live {
			call.finish(outcomes[i].messages, outcomes[i].err)
		}
		w.index.wrote(written, alone)
	case len(live) == 1 || fault.CodeOf(err) == fault.Unavailable && !lockedOut(err):
		for _, call := range live {
			call.finish(nil, err)
		}
	default:
		for _, call := range live {
			w.commit([]*appendCall{call}, s)
		}
	}
}
