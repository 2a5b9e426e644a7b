package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// How long a session of the console lives, and how many there may be.
const (
	SessionIdle = time.Hour
	SessionLife = 12 * time.Hour
	maxSessions = 1000 // beyond it, one ends of the player who has the most
	maxOfToken  = 16   // beyond it, one of the same token ends
)

// Sessions are the console's sessions, in memory: they end with the server. Safe for concurrent use.
type Sessions struct {
	// Now is the clock; set it before first use.
	Now func() time.Time
	// Recheck, if it is set before first use, tells whether a caller's token may still be used: UNAUTHENTICATED if not,
	// and then the session ends.
	Recheck func(ctx context.Context, c Caller) error

	mu   sync.Mutex
	open map[[sha256.Size]byte]*session // by the SHA-256 of the id
}

type session struct {
	caller  Caller // whose token is checked again at each use
	started time.Time
	used    time.Time
}

// NewSessions makes an empty set.
func NewSessions() *Sessions {
	return &Sessions{Now: time.Now, open: map[[sha256.Size]byte]*session{}}
}

// Start opens a session and gives its id, which is a secret: whoever has it is the caller.
func (s *Sessions) Start(c Caller) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	s.sweep(now)
	s.makeRoom(c)
	id := rand.Text() + rand.Text() // 256 bits
	s.open[sha256.Sum256([]byte(id))] = &session{caller: c, started: now, used: now}
	return id
}

// Caller gives the caller of a session, and counts as its use. UNAUTHENTICATED if it is not open, or the caller's token
// may no longer be used; UNAVAILABLE if that cannot be told now.
func (s *Sessions) Caller(ctx context.Context, id string) (Caller, error) {
	caller, ok := s.find(id)
	if !ok {
		return Caller{}, errSessionOver()
	}
	if s.Recheck == nil {
		return caller, nil
	}
	if err := s.Recheck(ctx, caller); err != nil {
		if fault.CodeOf(err) == fault.Unauthenticated {
			s.End(id)
		}
		return Caller{}, err
	}
	return caller, nil
}

func (s *Sessions) find(id string) (Caller, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, now := sha256.Sum256([]byte(id)), s.Now()
	found, ok := s.open[key]
	if !ok {
		return Caller{}, false
	}
	if found.expired(now) {
		delete(s.open, key)
		return Caller{}, false
	}
	found.used = now
	return found.caller, true
}

// isOpen tells whether a session is open, which does not count as its use.
func (s *Sessions) isOpen(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.open[sha256.Sum256([]byte(id))]
	return ok && !found.expired(s.Now())
}

// End closes a session. One that is not open is no error.
func (s *Sessions) End(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256([]byte(id)))
}

func (s *session) expired(now time.Time) bool {
	return now.Sub(s.used) >= SessionIdle || now.Sub(s.started) >= SessionLife
}

// sweep forgets what has expired.
func (s *Sessions) sweep(now time.Time) {
	for key, open := range s.open {
		if open.expired(now) {
			delete(s.open, key)
		}
	}
}

// makeRoom ends sessions so that a caller can have one more: one of the same token if it has as many as it may, and one of
// the player with the most if there are too many in all. So nobody signs others out by signing in often. Of several, that
// ends which was idle the longest.
func (s *Sessions) makeRoom(c Caller) {
	ofToken, ofPlayer := 0, map[chain.Hash]int{}
	most := c.Player
	for _, open := range s.open {
		if isSameToken(open.caller, c) {
			ofToken++
		}
		ofPlayer[open.caller.Player]++
		if ofPlayer[open.caller.Player] > ofPlayer[most] {
			most = open.caller.Player
		}
	}
	switch {
	case ofToken >= maxOfToken:
		s.endIdlest(func(of Caller) bool { return isSameToken(of, c) })
	case len(s.open) >= maxSessions:
		s.endIdlest(func(of Caller) bool { return of.Player == most })
	}
}

// isSameToken tells whether callers came with one token, or with what has no id and makes them the same.
func isSameToken(a, b Caller) bool {
	return a.TokenID == b.TokenID && (a.TokenID != "" || a.Player == b.Player && a.Role == b.Role)
}

// endIdlest ends the session of such callers that was idle the longest.
func (s *Sessions) endIdlest(such func(Caller) bool) {
	var idlest [sha256.Size]byte
	var since time.Time
	for key, open := range s.open {
		if such(open.caller) && (since.IsZero() || open.used.Before(since)) {
			idlest, since = key, open.used
		}
	}
	delete(s.open, idlest)
}
