package chain

import (
	"fmt"
	"math"
	"slices"
)

// maxGap is how many messages of one gap are named one by one.
const maxGap = 100

// StoredRef is one row of a message's refs, as it is stored.
type StoredRef struct {
	Ref
	Position   int32
	ThreadHash *Hash
}

// Entry is one message as it is stored, with the rows that a check needs beside it.
type Entry struct {
	Message
	IDDigest Hash
	Refs     []StoredRef // of this message's hash, in any order
	Leaf     *StoredLeaf // its place's in the tree; nil if that has none
	Waiting  bool        // the message waits for the tree
	Sealing  bool        // a message without a leaf must wait: where there is no tree, it is false

	// Not empty if a stored value is none of its type, and says which and why. What could not be read is left zero.
	Unreadable     string
	RefsUnreadable string
}

// StrayRef is a row of refs that belongs to no message, or to one that was written without refs.
type StrayRef struct {
	MessageHash *Hash // nil if it cannot be read
	Position    int32
	Session     *Hash  // of the message, told by itself or by its successor
	Sequence    *int64 // of the message, likewise
	Exists      bool   // whether the message does
}

// Verifier checks chains, one message at a time: Add every message, ascending by session and sequence, then End, then
// every returned message, every leaf without a message and every stray ref. It keeps nothing of what it is given but
// the breaks and, within a session, the hashes of what was erased: so its memory does not grow with the log. The zero
// value is not ready: use NewVerifier. Not safe for concurrent use.
//
// It holds each message against its own hash and digests, its refs against theirs, and its place against its
// predecessor's. A message whose fields do not give its hash is named once and not believed: where its place, id or
// time are wrong, too, that says nothing about its neighbours.
type Verifier struct {
	sessions, messages int64
	erased             int64
	found              int64 // breaks, listed or not
	breaks             []Break
	explained          map[Hash]bool // messages that were named, so that their refs need not be; at most MaxBreaks
	noRefs             Hash
	scratch            frames

	// The session that is being checked, up to the last message whose place is known.
	session   Hash
	seq       int64
	heads     []Hash // what the next message may name: stored and computed hashes of all at seq
	hasPrev   bool
	prev      Hash // what the message at seq names itself, if hasPrev
	lastID    int64
	lastMicro int64
	head      Hash
	lastLeaf  int64 // index
	rewritten int64 // the first sequence whose leaf is another message's; 0 if there is none
	doubt     *doubt
	gaps      []place
	absent    []absence // messages without content
	absentAt  map[Hash]int
}

// doubt is a message that is not believed and fits nowhere, until its successor tells where it stands.
type doubt struct {
	seq  int64
	prev *Hash
	hash []Hash
}

// place is one in a session.
type place struct {
	seq  int64
	hash Hash
}

// NewVerifier gives a verifier that has seen nothing.
func NewVerifier() *Verifier {
	return &Verifier{explained: make(map[Hash]bool), noRefs: RefsDigest(nil)}
}

// Sessions is how many were seen.
func (v *Verifier) Sessions() int64 { return v.sessions }

// Messages is how many were seen.
func (v *Verifier) Messages() int64 { return v.messages }

// Valid tells whether no break was found so far.
func (v *Verifier) Valid() bool { return v.found == 0 }

// Breaks lists what was found so far, at most MaxBreaks. The slice is not written to later.
func (v *Verifier) Breaks() []Break { return slices.Clip(v.breaks) }

// Head is the hash of the last message seen, nil before the first.
func (v *Verifier) Head() *Hash {
	if v.messages == 0 {
		return nil
	}
	head := v.head
	return &head
}

// Add checks the next message. The entry is the caller's again when it returns.
func (v *Verifier) Add(e *Entry) {
	if v.messages == 0 || e.SessionHash != v.session {
		v.endErasures()
		v.sessions++
		v.session, v.seq, v.heads, v.hasPrev = e.SessionHash, 0, v.heads[:0], false
		v.lastID, v.lastMicro = math.MinInt64, math.MinInt64
		v.lastLeaf, v.rewritten = -1, 0
		v.doubt, v.gaps = nil, v.gaps[:0]
	}
	v.messages++
	v.head = e.Hash
	verdict := v.checkMessage(e)
	v.checkErasure(e, &verdict)
	v.checkPlace(e, &verdict)
	v.checkLeaf(e, &verdict)
}

// AddStray takes a stray ref into account, after all messages.
func (v *Verifier) AddStray(s StrayRef) {
	if s.MessageHash != nil && v.explained[*s.MessageHash] {
		return
	}
	b := Break{Sequence: s.Sequence, MessageHash: s.MessageHash, Reason: RefsMismatch}
	if s.Session != nil {
		b.Session = *s.Session
	}
	switch {
	case s.MessageHash == nil:
		b.Detail = fmt.Sprintf("the ref at position %d names its message by what is no hash", s.Position)
	case s.Exists:
		b.Detail = fmt.Sprintf("it was written without refs, and there is one at position %d", s.Position)
	default:
		b.Detail = fmt.Sprintf("there is a ref at position %d of this message, and the message is missing", s.Position)
	}
	if last := len(v.breaks) - 1; last >= 0 && s.MessageHash != nil && v.breaks[last].MessageHash != nil &&
		v.breaks[last].Reason == RefsMismatch && *v.breaks[last].MessageHash == *s.MessageHash {
		return // one break a message, not one a row
	}
	v.addBreak(b)
}

// checkPlace holds a message's sequence, prev_hash, id and time against its predecessor's.
func (v *Verifier) checkPlace(e *Entry, got *verdict) {
	if e.Sequence < 1 {
		if got.sound {
			v.add(e, BrokenLink, "sequence %d is below 1", e.Sequence)
		}
		return
	}
	if d := v.doubt; d != nil && got.sound && d.seq+1 == e.Sequence && e.PrevHash != nil && slices.Contains(d.hash, *e.PrevHash) {
		if d.seq > v.seq+1 {
			v.gap(d.seq, d.prev)
		}
		v.seq, v.heads, v.hasPrev = d.seq, append(v.heads[:0], d.hash...), false
	}
	next := e.Sequence == v.seq+1
	switch linked := got.linked || v.links(e.PrevHash); {
	case next && linked:
	case !got.sound:
		v.doubt = &doubt{seq: e.Sequence, prev: clone(e.PrevHash), hash: got.hashes(e)}
		return
	case e.Sequence == v.seq:
		v.add(e, Fork, "message %s claims sequence %d as well", v.lastHash(), e.Sequence)
		v.heads = append(v.heads, e.Hash)
		return
	case !next:
		v.gap(e.Sequence, e.PrevHash)
	case v.seq == 0:
		v.add(e, BrokenLink, "prev_hash is %s, and the first message of a session has none", text(e.PrevHash))
	case e.PrevHash != nil && v.hasPrev && v.prev == *e.PrevHash:
		v.add(e, Fork, "prev_hash is that of message %s as well", v.lastHash())
	default:
		v.add(e, BrokenLink, "prev_hash is %s, and message %d is %s", text(e.PrevHash), v.seq, v.lastHash())
	}
	v.advance(e, got)
}

// links tells whether prev_hash names the last message whose place is known.
func (v *Verifier) links(prev *Hash) bool {
	if prev == nil {
		return v.seq == 0
	}
	if v.seq > 0 && v.heads[0] == (Hash{}) { // the last one's hash cannot be read: this one tells it
		v.explain(*prev)
		return true
	}
	return v.seq > 0 && slices.Contains(v.heads, *prev)
}

// gap reports the messages between the last known place and that of a message that names prev.
func (v *Verifier) gap(before int64, prev *Hash) {
	first, last := v.seq+1, before-1
	detail := fmt.Sprintf("message %d is missing", first)
	if first < last {
		detail = fmt.Sprintf("messages %d to %d are missing", first, last)
	}
	for seq := max(first, before-maxGap); seq <= last; seq++ {
		b := Break{Session: v.session, Sequence: &seq, Reason: Gap, Detail: detail}
		if seq == last && prev != nil {
			b.MessageHash = clone(prev)
			v.explain(*prev)
			if len(v.gaps) < MaxBreaks {
				v.gaps = append(v.gaps, place{seq, *prev})
			}
		}
		v.addBreak(b)
	}
}

// advance makes a message the last one whose place is known, and holds its id and time against those before.
func (v *Verifier) advance(e *Entry, got *verdict) {
	v.seq, v.doubt = e.Sequence, nil
	if v.hasPrev = e.PrevHash != nil; v.hasPrev {
		v.prev = *e.PrevHash
	}
	if !got.sound {
		v.heads = append(v.heads[:0], got.hashes(e)...)
		return
	}
	v.heads = append(v.heads[:0], e.Hash)
	micro := e.CreatedAt.UnixMicro()
	if micro < v.lastMicro {
		v.add(e, Clock, "created_at is before that of the message before it")
	}
	v.lastMicro = micro
	if !got.placed {
		return
	}
	if e.ID <= v.lastID {
		v.add(e, Clock, "id %d does not follow id %d of a message before it", e.ID, v.lastID)
	}
	v.lastID = e.ID
}

// lastHash gives the hash of the last message whose place is known, for words.
func (v *Verifier) lastHash() string {
	if len(v.heads) == 0 {
		return "absent"
	}
	return v.heads[0].String()
}

func (v *Verifier) add(e *Entry, reason BreakReason, format string, args ...any) {
	seq, hash := e.Sequence, e.Hash
	b := Break{Session: e.SessionHash, Sequence: &seq, MessageHash: &hash, Reason: reason, Detail: fmt.Sprintf(format, args...)}
	if hash == (Hash{}) { // it could not be read
		b.MessageHash = nil
	}
	v.addBreak(b)
}

func (v *Verifier) addBreak(b Break) {
	v.found++
	if len(v.breaks) < MaxBreaks {
		v.breaks = append(v.breaks, b)
	}
}

func (v *Verifier) explain(h Hash) {
	if len(v.explained) < MaxBreaks {
		v.explained[h] = true
	}
}

func clone(h *Hash) *Hash {
	if h == nil {
		return nil
	}
	copied := *h
	return &copied
}

func text(h *Hash) string {
	if h == nil {
		return "absent"
	}
	return h.String()
}
