package endpointtest

import (
	"sync"
	"time"
)

// Clock is a time that only the test moves. Safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock gives a clock at some time.
func NewClock() *Clock { return &Clock{at: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)} }

// Now gives the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Move lets time pass.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
