package chain

import "math"

// maxScanned is how many sessions a Scan follows at once: some 60 MB.
const maxScanned = 500_000

// Scan checks messages in the order of their ids, as they were written, with all chains at once. It tells whether
// everything is as it must be; what is not, and where, is a Verifier's to say. So the log is read in the order that it
// is stored in as long as nothing is wrong, and in that of its sessions only if something is.
// Not safe for concurrent use.
type Scan struct {
	v        *Verifier
	sessions map[Hash]scanned
	lastID   int64
	messages int64
	refs     int64
	absent   map[Hash]Hash // messages without content, until their erasure comes, with their sessions
	erased   int64
}

// scanned is a session's last message so far.
type scanned struct {
	head  Hash
	seq   int64
	micro int64
}

// NewScan gives a scan that has seen nothing.
func NewScan() *Scan {
	return &Scan{v: NewVerifier(), sessions: make(map[Hash]scanned), lastID: math.MinInt64, absent: make(map[Hash]Hash)}
}

// Sessions is how many were seen.
func (s *Scan) Sessions() int64 { return int64(len(s.sessions)) }

// Messages is how many were seen.
func (s *Scan) Messages() int64 { return s.messages }

// Refs is how many rows of refs came with them.
func (s *Scan) Refs() int64 { return s.refs }

// Erased is how many of the messages were erased, on the record.
func (s *Scan) Erased() int64 { return s.erased }

// End tells, after the last message, whether no erasure is missing.
func (s *Scan) End() bool { return len(s.absent) == 0 }

// Add tells whether the next message is whole and follows its session's last. After a false it must not be called
// again. The entry is the caller's again when it returns.
func (s *Scan) Add(e *Entry) bool {
	s.messages++
	s.refs += int64(len(e.Refs))
	s.v.checkMessage(e)
	last, known := s.sessions[e.SessionHash]
	micro := e.CreatedAt.UnixMicro()
	switch {
	case !s.v.Valid() || e.ID <= s.lastID || e.Sequence != last.seq+1:
		return false
	case known && (e.PrevHash == nil || *e.PrevHash != last.head || micro < last.micro):
		return false
	case !known && (e.PrevHash != nil || len(s.sessions) >= maxScanned):
		return false
	case !s.erasure(e):
		return false
	}
	s.lastID = e.ID
	s.sessions[e.SessionHash] = scanned{head: e.Hash, seq: e.Sequence, micro: micro}
	return true
}

// erasure follows what is gone until an ERASURE message says why. One that names anything else is looked at closely.
func (s *Scan) erasure(e *Entry) bool {
	if e.EventType != EventErasure {
		if e.gone() {
			s.absent[e.Hash] = e.SessionHash
		}
		return len(s.absent) <= maxScanned
	}
	for i := range e.Refs {
		r := &e.Refs[i]
		if session, known := s.absent[r.Hash]; r.Type != RefContext || !known || session != e.SessionHash {
			return false
		}
		delete(s.absent, r.Hash)
		s.erased++
	}
	return true
}
