package db

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of subscriptions.
const (
	MaxSubscribers  = 50_000    // of one DB
	maxWaiting      = 1024      // messages that wait for a reader
	maxWaitingBytes = 8 << 20   // content that waits for a reader
	maxHeldBytes    = 256 << 20 // of all messages that wait for somebody, each counted once
	heldOverhead    = 1 << 10   // what a message takes besides its content, about
)

var (
	errBehind   = fault.New(fault.Unavailable, "the reader fell too far behind; read what it missed, then subscribe again")
	errStopping = fault.New(fault.Unavailable, "the server is stopping; subscribe again later")
)

// Subscription gives messages in the order of their commits to one reader. See DB.Subscribe.
type Subscription struct {
	sessions []chain.Hash // of which it gets messages; nil: of all
	wants    func(*chain.Message) bool
	seen     *seenSessions // of the reader, and all others who see as much; nil: all of them
	news     chan struct{} // holds one if something changed since the reader looked
	// record puts on record that a message is delivered; nil: nobody has to know.
	record func(context.Context, *chain.Message) error
	pace   *pace        // gives it its turn
	due    atomic.Bool  // it waits for its turn
	turn   atomic.Int64 // the round of the turn that it has, 0 for none

	mu      sync.Mutex
	waiting []*notice
	bytes   int   // of what waits
	err     error // why it ended; nil as long as it did not
}

// notice is a message on its way to subscribers, who share it.
type notice struct {
	*chain.Message
	size    int          // of its content
	holders atomic.Int64 // whom it waits for
	held    *atomic.Int64
}

// hold counts one more for whom it waits.
func (n *notice) hold() {
	if n.holders.Add(1) == 1 {
		n.held.Add(int64(n.size + heldOverhead))
	}
}

// release counts one less.
func (n *notice) release() {
	if n.holders.Add(-1) == 0 {
		n.held.Add(-int64(n.size + heldOverhead))
	}
}

// Subscribe gives every message that wants takes and that is committed after Subscribe returned, each once, in the
// order of commits, until ctx ends. Subscribers share the messages, and must not change them. There are at most
// MaxSubscribers: beyond, and once the store closes, it gives UNAVAILABLE.
func (d *DB) Subscribe(ctx context.Context, wants func(*chain.Message) bool) (*Subscription, error) {
	return d.SubscribeTo(ctx, nil, wants)
}

// SubscribeTo is Subscribe to the messages of some sessions; nil are all. It costs next to nothing while others are written
// to.
func (d *DB) SubscribeTo(ctx context.Context, sessions []chain.Hash, wants func(*chain.Message) bool) (*Subscription, error) {
	d.feed.launch()
	select {
	case <-d.feed.ready:
	case <-d.feed.done:
	case <-ctx.Done():
		return nil, mapError(ctx.Err())
	}
	s := &Subscription{sessions: sessions, wants: wants, news: make(chan struct{}, 1), pace: &d.feed.pace}
	if d.office != nil && d.office.reading != nil {
		s.record = d.recordDelivered
	}
	if err := d.feed.add(s, d.viewer); err != nil {
		return nil, err
	}
	if s.seen != nil {
		if err := s.seen.load(ctx, d); err != nil {
			d.feed.drop(s)
			s.cut(err)
			return nil, err
		}
		s.keep(s.seen.has)
	}
	context.AfterFunc(ctx, func() {
		d.feed.drop(s)
		s.cut(mapError(ctx.Err()))
	})
	return s, nil
}

// takes tells whether the reader gets a message. Each that is handed on has to be asked for: see seenSessions.
func (s *Subscription) takes(m *chain.Message) bool {
	return (s.seen == nil || s.seen.note(m)) && s.wants(m)
}

// keep drops what waits and is not wanted.
func (s *Subscription) keep(wanted func(*chain.Message) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = 0
	s.waiting = slices.DeleteFunc(s.waiting, func(n *notice) bool {
		if !wanted(n.Message) {
			n.release()
			return true
		}
		s.bytes += n.size
		return false
	})
}

// Next waits for a message. The error tells why there will be none any more, always with UNAVAILABLE: ctx or the
// subscription's context ended, the store closes, more than 1,024 messages or 8 MiB of content waited for the reader, or
// those of all readers took too much memory and this one's most; these are gone.
func (s *Subscription) Next(ctx context.Context) (*chain.Message, error) {
	for woken := false; ; woken = true {
		if m, err := s.take(); m != nil || err != nil {
			return s.deliver(ctx, m, err)
		}
		if woken {
			s.Delivered() // it has taken before what it was woken for
		}
		select {
		case <-s.news:
		case <-ctx.Done():
			return nil, mapError(ctx.Err())
		}
	}
}

// Waits tells whether another message waits, so that Next gives it at once.
func (s *Subscription) Waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) > 0
}

// Delivered says that the reader is done with what Next gave, so that others have their turn once nothing more waits. Who does
// not say so is not waited for.
func (s *Subscription) Delivered() {
	if !s.Waits() {
		s.pace.finished(s)
	}
}

// deliver gives a message once that is on record. If it cannot be, the subscription ends.
func (s *Subscription) deliver(ctx context.Context, m *chain.Message, err error) (*chain.Message, error) {
	if m == nil || s.record == nil {
		return m, err
	}
	if err := s.record(ctx, m); err != nil {
		s.cut(err)
		return nil, err
	}
	return m, nil
}

func (s *Subscription) take() (*chain.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || len(s.waiting) == 0 {
		return nil, s.err
	}
	n := s.waiting[0]
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	s.bytes -= n.size
	n.release()
	return n.Message, nil
}

// put adds a message; the reader has to be woken. It tells whether the subscription goes on: a reader is better told by an end than by a hole.
func (s *Subscription) put(n *notice) bool {
	s.mu.Lock()
	full := len(s.waiting) > 0 && (len(s.waiting) >= maxWaiting || s.bytes+n.size > maxWaitingBytes)
	if !full && s.err == nil {
		s.waiting = append(s.waiting, n)
		s.bytes += n.size
		n.hold()
	}
	s.mu.Unlock()
	if full {
		s.cut(errBehind)
		return false
	}
	return true
}

// cut ends it, unless it has ended.
func (s *Subscription) cut(err error) {
	s.mu.Lock()
	if s.err == nil {
		for _, n := range s.waiting {
			n.release()
		}
		s.waiting, s.bytes, s.err = nil, 0, err
	}
	s.mu.Unlock()
	s.wake()
}

// backlog is the content that waits for the reader, in bytes, with what messages take besides.
func (s *Subscription) backlog() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes + len(s.waiting)*heldOverhead
}

func (s *Subscription) wake() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// sizeOf is a message's content in bytes.
func sizeOf(m *chain.Message) int {
	size := 0
	if m.Content != nil {
		size += len(*m.Content)
	}
	if m.Attachments != nil {
		size += len(*m.Attachments)
	}
	if m.Ambient != nil {
		size += len(*m.Ambient)
	}
	return size
}
