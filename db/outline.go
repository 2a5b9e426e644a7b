package db

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tzzr/context-manager/internal/chain"
)

// Line names what has positions: the messages of a thread, by time and then as they were written, or those of a session,
// by sequence.
type Line struct {
	Hash   chain.Hash
	Thread bool // or a session
}

// outline holds of a line what positions follow from, whoever sees it: the database counts up to a position row by row,
// of which a thread may have a hundred thousand. What others write is read before each use; of what is there nothing ever
// changes, but for what erasing takes away, which is not here.
type outline struct {
	line Line
	turn chan struct{} // held while it is read or brought up to date
	size int           // as the outlines count it

	sketch
	sessionAt map[chain.Hash]uint32
	channelAt map[string]uint32

	// Of a thread: messages up to settled are all here. Messages are not always seen in the order of their ids, so the end of
	// the log is settled only once each transaction is over that was under way when it was read: those before next.
	settled       int64
	waiting, next int64
	unsettled     map[int64]bool // ids behind settled that are here
}

// sketch is an outline as it was at a moment. What it holds is only added to, or put in another place.
type sketch struct {
	entries  []entry // in order
	sessions []chain.Hash
	channels []string
}

// entry is a message of an outline, in 24 bytes.
type entry struct {
	id      int64
	at      int64  // in microseconds since 1970
	session uint32 // among the sessions
	label   uint32 // importance, whether it is an error, and 1 + its channel among the channels, from the lowest bits on
}

const (
	importanceBits = 3
	errorBit       = 4
	channelShift   = 3
	entryBytes     = 24
	nameBytes      = 160 // of a session, and of a channel besides its text
)

func (e entry) importance() int { return int(e.label & importanceBits) }

func (e entry) isError() bool { return e.label&errorBit != 0 }

func (e entry) channel() uint32 { return e.label >> channelShift }

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id))
}

func newOutline(line Line) *outline {
	o := &outline{line: line, turn: make(chan struct{}, 1)}
	o.clear()
	return o
}

func (o *outline) clear() {
	o.sketch = sketch{}
	o.sessionAt, o.channelAt = map[chain.Hash]uint32{}, map[string]uint32{}
	o.settled, o.waiting, o.next, o.unsettled = 0, 0, 0, map[int64]bool{}
}

// add takes in a message, unless it is here; sort must follow.
func (o *outline) add(id int64, at time.Time, session chain.Hash, kind chain.EventType, importance int16, channel *string) {
	if o.line.Thread {
		if o.unsettled[id] {
			return
		}
		o.unsettled[id] = true
	}
	e := entry{id: id, at: at.UnixMicro(), label: uint32(importance) & importanceBits}
	if kind == chain.EventError {
		e.label |= errorBit
	}
	known := false
	if e.session, known = o.sessionAt[session]; !known {
		e.session = uint32(len(o.sessions))
		o.sessionAt[session] = e.session
		o.sessions = append(o.sessions, session)
	}
	if channel != nil {
		n, known := o.channelAt[*channel]
		if !known {
			n = uint32(len(o.channels))
			o.channelAt[*channel] = n
			o.channels = append(o.channels, *channel)
		}
		e.label |= (n + 1) << channelShift
	}
	o.entries = append(o.entries, e)
}

// sort puts the entries in order, of which so many are already. Somebody may still read them as they were.
func (o *outline) sort(sorted int) {
	if slices.IsSortedFunc(o.entries[max(0, sorted-1):], compareEntries) {
		return
	}
	o.entries = slices.Clone(o.entries)
	slices.SortFunc(o.entries, compareEntries)
}

// settle notes how far the log was when the outline was read, and drops what is no longer needed to tell.
func (o *outline) settle(position, oldest, next int64) {
	switch {
	case oldest == next: // nobody writes
		o.settled, o.next = max(o.settled, position), 0
	case o.next != 0 && oldest >= o.next:
		o.settled, o.next = max(o.settled, o.waiting), 0
	}
	if o.next == 0 {
		o.waiting, o.next = position, next
	}
	for id := range o.unsettled {
		if id <= o.settled {
			delete(o.unsettled, id)
		}
	}
}

func (o *outline) bytes() int {
	size := nameBytes + cap(o.entries)*entryBytes + (len(o.sessions)+len(o.channels))*nameBytes
	for _, c := range o.channels {
		size += len(c)
	}
	return size
}

// maxOutlines is how many bytes outlines take together, as far as they are kept.
const maxOutlines = 128 << 20

// outlines are those that were used last.
type outlines struct {
	mu   sync.Mutex
	kept *simplelru.LRU[Line, *outline]
	size int
}

func newOutlines() *outlines {
	s := &outlines{}
	s.kept, _ = simplelru.NewLRU(maxOutlines/nameBytes, func(_ Line, o *outline) { s.size -= o.size }) // fails for no size only
	return s
}

func (s *outlines) of(line Line) *outline {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.kept.Get(line); ok {
		return o
	}
	o := newOutline(line)
	s.kept.Add(line, o)
	return o
}

// charge counts what an outline has grown by, and forgets those that are too much.
func (s *outlines) charge(o *outline, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, ok := s.kept.Peek(o.line); !ok || now != o {
		return // forgotten meanwhile
	}
	s.size += size - o.size
	o.size = size
	for s.size > maxOutlines {
		s.kept.RemoveOldest()
	}
}

// forget has an outline read anew.
func (s *outlines) forget(line Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Remove(line)
}
