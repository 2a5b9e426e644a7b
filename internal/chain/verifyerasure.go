package chain

import "fmt"

// absence is a message without content, whose erasure may be recorded later in its session.
type absence struct {
	seq      int64
	hash     Hash
	recorded bool
}

// gone tells whether nothing is left of what an erasure removes.
func (e *Entry) gone() bool {
	return e.Unreadable == "" && e.Content == nil && e.Attachments == nil && e.Ambient == nil && e.Salt == nil
}

// Erased is how many messages were erased, on the record: of the sessions that are complete.
func (v *Verifier) Erased() int64 { return v.erased }

// End tells that there are no more messages. It goes before AddReturned and AddStray.
func (v *Verifier) End() { v.endErasures() }

// AddReturned takes a message into account that has its content although message by of its session, an ERASURE
// message, says that it was erased.
func (v *Verifier) AddReturned(session Hash, sequence int64, hash Hash, by int64) {
	v.addBreak(Break{Session: session, Sequence: &sequence, MessageHash: &hash, Reason: HashMismatch,
		Detail: fmt.Sprintf("its content is there, though message %d says that it was erased", by)})
}

// checkErasure notes a message without content until an ERASURE message says that it was erased, and what an ERASURE
// message says. It is believed if its fields and its refs are what was written: its own content adds nothing to that.
func (v *Verifier) checkErasure(e *Entry, got *verdict) {
	switch {
	case e.EventType == EventErasure && got.sound && got.refsSound:
		for i := range e.Refs {
			if at, known := v.absentAt[e.Refs[i].Hash]; known && e.Refs[i].Type == RefContext {
				v.absent[at].recorded = true
			}
		}
	case e.gone() && e.EventType != EventErasure:
		if v.absentAt == nil {
			v.absentAt = map[Hash]int{}
		}
		for _, hash := range got.hashes(e) {
			v.absentAt[hash] = len(v.absent)
		}
		v.absent = append(v.absent, absence{seq: e.Sequence, hash: e.Hash})
	}
}

// endErasures reports the messages of a session whose erasure did not come.
func (v *Verifier) endErasures() {
	for i := range v.absent {
		a := v.absent[i]
		if a.recorded {
			v.erased++
			continue
		}
		v.addBreak(Break{Session: v.session, Sequence: &a.seq, MessageHash: &a.hash, Reason: HashMismatch,
			Detail: "its content is gone without an erasure on record"})
	}
	v.absent = v.absent[:0]
	clear(v.absentAt)
}
