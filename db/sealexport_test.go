package db

import "time"

// WithStep makes a test do the steps of a sealer's rounds: take, leaves, tiles, tree, commit, sign, publish, keep.
func (c SealerConfig) WithStep(step func(name string, do func() error) error) SealerConfig {
	c.step = step
	return c
}

// WithWitnessPace makes a sealer ask its witnesses more often.
func (c SealerConfig) WithWitnessPace(pace time.Duration) SealerConfig {
	c.witnessPace = pace
	return c
}

// WithClock gives a sealer another clock.
func (c SealerConfig) WithClock(now func() time.Time) SealerConfig {
	c.now = now
	return c
}

// SealBatch is how many messages a round takes at most.
const SealBatch = sealBatch

// WithHeld bounds the memory for messages that wait for subscribers, in bytes.
func (d *DB) WithHeld(bytes int64) { d.feed.maxHeld = bytes }

// Held is how much of it is in use.
func (d *DB) Held() int64 { return d.feed.held.Load() }

// Seen gives of how many players sessions are kept for subscriptions, and how many sessions.
func (d *DB) Seen() (players, sessions int) {
	d.feed.mu.Lock()
	defer d.feed.mu.Unlock()
	for _, v := range d.feed.seen {
		v.mu.Lock()
		sessions += len(v.sessions)
		v.mu.Unlock()
	}
	return len(d.feed.seen), sessions
}

// SetClock makes a store take a time for the database's, until it asks again.
func (d *DB) SetClock(said time.Time) {
	d.clock.mu.Lock()
	defer d.clock.mu.Unlock()
	d.clock.said, d.clock.at = said, time.Now()
}
