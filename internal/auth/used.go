package auth

import (
	"context"
	"sync"
	"time"
)

// When tokens were last used is written down in batches, and of each no more often than it takes to be true to the minute. What cannot
// be written for long is forgotten beyond maxUses: it is a help to people, and not a record.
const (
	useInterval = 10 * time.Second
	useOnce     = time.Minute - useInterval // a use is passed over if one was noted so shortly before, and that may wait for its batch
	useLimit    = 2 * time.Second           // for a batch to be written
	maxUses     = 10_000
)

// uses are the tokens that were used, by their ids. Safe for concurrent use.
type uses struct {
	now func() time.Time

	mu      sync.Mutex
	noted   map[string]time.Time // within useOnce
	waiting map[string]bool      // to be written down
}

func newUses(now func() time.Time) *uses {
	return &uses{now: now, noted: map[string]time.Time{}, waiting: map[string]bool{}}
}

func (u *uses) note(id string) {
	now := u.now()
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.noted[id]; ok && now.Sub(last) < useOnce || len(u.noted) >= maxUses || len(u.waiting) >= maxUses {
		return
	}
	u.noted[id] = now
	u.waiting[id] = true
}

// take gives what waits, and forgets what was noted longer ago than useOnce.
func (u *uses) take() []string {
	now := u.now()
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range u.noted {
		if now.Sub(at) >= useOnce {
			delete(u.noted, id)
		}
	}
	ids := make([]string, 0, len(u.waiting))
	for id := range u.waiting {
		ids = append(ids, id)
	}
	clear(u.waiting)
	return ids
}

// putBack lets those wait again that could not be written.
func (u *uses) putBack(ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range ids {
		if len(u.waiting) < maxUses {
			u.waiting[id] = true
		}
	}
}

// writeUses writes down which tokens were used since the last time.
func (t *Tokens) writeUses(ctx context.Context) {
	ids := t.used.take()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, useLimit)
	defer cancel()
	if err := t.store.TokensUsed(ctx, ids); err != nil {
		t.used.putBack(ids)
		t.log.WarnContext(ctx, "the last use of tokens was not written", "tokens", len(ids), "cause", err)
	}
}
