package chain

import "fmt"

// StoredLeaf is what the tree over the log has of one place in a session.
type StoredLeaf struct {
	Index   int64
	Message Hash // zero if it cannot be read
}

// MissingLeaf is a leaf whose place in its session no message has.
type MissingLeaf struct {
	Session  Hash
	Sequence int64
	Leaf     StoredLeaf
	Last     *int64 // the highest sequence that a message of the session has; nil if there is no message
}

// checkLeaf holds a message against its leaf, which tells what it was when it was sealed. A message whose fields do not
// give its hash is named already, and not believed where its place is.
func (v *Verifier) checkLeaf(e *Entry, got *verdict) {
	leaf := e.Leaf
	switch {
	case !got.sound:
		return
	case leaf == nil:
		if e.Sealing && !e.Waiting && got.placed {
			v.add(e, LeafMismatch, "it has no leaf in the tree and does not wait for one: it was never taken in")
		}
		return
	case leaf.Message != e.Hash:
		v.differs(e)
	case e.Waiting:
		v.add(e, LeafMismatch, "it is leaf %d and waits for the tree besides", leaf.Index)
	}
	if leaf.Index < v.lastLeaf {
		v.add(e, LeafMismatch, "it is leaf %d, and a message before it is leaf %d: they were swapped", leaf.Index, v.lastLeaf)
	}
	v.lastLeaf = leaf.Index
}

func (v *Verifier) differs(e *Entry) {
	if v.rewritten == 0 {
		v.rewritten = e.Sequence
	}
	if e.Sequence > v.rewritten {
		v.add(e, LeafMismatch, "leaf %d has the message %s here: the session was rewritten from sequence %d on", e.Leaf.Index, e.Leaf.Message, v.rewritten)
		return
	}
	v.add(e, LeafMismatch, "leaf %d has the message %s here: it was rewritten after it was sealed", e.Leaf.Index, e.Leaf.Message)
}

// AddMissing takes the leaves that no message belongs to into account, ascending by session and sequence; once, after
// all messages. A hole in a session that has later messages is a gap in its chain, and named as such.
func (v *Verifier) AddMissing(next func() (MissingLeaf, bool)) {
	var run []MissingLeaf // of one session: its first, and its last
	total := int64(0)
	flush := func() {
		if total > 0 {
			v.missing(run[0], run[len(run)-1], total)
		}
		run, total = run[:0], 0
	}
	for m, more := next(); more; m, more = next() {
		v.explain(m.Leaf.Message)
		if m.Last != nil && m.Sequence < *m.Last {
			continue
		}
		if total > 0 && run[0].Session != m.Session {
			flush()
		}
		if total++; m.Last != nil && total <= maxGap {
			v.missingTail(m)
		}
		run = append(run[:min(len(run), 1)], m)
	}
	flush()
}

func (v *Verifier) missingTail(m MissingLeaf) {
	v.addBreak(Break{
		Session: m.Session, Sequence: &m.Sequence, MessageHash: &m.Leaf.Message, Reason: MissingTail,
		Detail: fmt.Sprintf("it was sealed as leaf %d and is missing, and so is all that came after it: the session ends with %d", m.Leaf.Index, *m.Last),
	})
}

// missing reports a session of which nothing is left, in one break.
func (v *Verifier) missing(first, last MissingLeaf, total int64) {
	if first.Last != nil {
		return
	}
	v.addBreak(Break{
		Session: first.Session, Reason: MissingSession,
		Detail: fmt.Sprintf("all %d messages of the session are missing, which were sealed from leaf %d to leaf %d; the last was %s",
			total, first.Leaf.Index, last.Leaf.Index, last.Leaf.Message),
	})
}

// AddUnmatched says that the leaves are not those of the messages, where nothing else says it.
func (v *Verifier) AddUnmatched() {
	v.addBreak(Break{Reason: LeafMismatch, Detail: "the leaves of the tree are not those of the messages, one for one"})
}

// AddGone says that messages are missing that waited for the tree, known by their ids alone.
func (v *Verifier) AddGone(messages, firstID, lastID int64) {
	v.addBreak(Break{Reason: MissingTail, Detail: fmt.Sprintf(
		"%d messages are missing that waited for the tree, with ids from %d to %d: the ends of sessions, or whole ones", messages, firstID, lastID)})
}
