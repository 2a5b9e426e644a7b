package db

import (
	"context"
	"sync"

	"github.com/tzzr/context-manager/internal/chain"
)

// seenSessions are the sessions that a player sees while more are written: those that they are a member of, and those
// where they are named from then on. All subscriptions of the player share them: a player may have many of both. The
// feed keeps them for as long as one of these is with it, and so they hear of all that is written.
type seenSessions struct {
	player  chain.Hash
	readers int           // subscriptions that are with the feed; under its lock
	loading chan struct{} // holds one while somebody asks for what there was before

	mu       sync.Mutex
	sessions map[chain.Hash]bool
	loaded   bool // until then all might be seen
}

func newSeenSessions(player chain.Hash) *seenSessions {
	return &seenSessions{player: player, loading: make(chan struct{}, 1), sessions: map[chain.Hash]bool{}}
}

// note takes down whether a message names the player, and tells whether they may see it.
func (v *seenSessions) note(m *chain.Message) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if takesPart(m, v.player) {
		v.sessions[m.SessionHash] = true
		return true
	}
	return !v.loaded || v.sessions[m.SessionHash]
}

// has tells whether the player sees a message, once the sessions are loaded.
func (v *seenSessions) has(m *chain.Message) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sessions[m.SessionHash]
}

// load asks for the sessions, unless somebody has. A subscription has to be with the feed by then, so that none is missed.
func (v *seenSessions) load(ctx context.Context, d *DB) error {
	ctx, end := d.reads.bounded(ctx)
	defer end()
	select {
	case v.loading <- struct{}{}:
		defer func() { <-v.loading }()
	case <-ctx.Done():
		return mapError(ctx.Err())
	}
	v.mu.Lock()
	loaded := v.loaded
	v.mu.Unlock()
	if loaded {
		return nil
	}
	own, err := d.readByKey().OwnSessions(ctx, v.player.String())
	if err != nil {
		return mapError(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, session := range own {
		v.sessions[session] = true
	}
	v.loaded = true
	return nil
}
