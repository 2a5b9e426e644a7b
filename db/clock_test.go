package db_test

import (
	"testing"
	"time"
)

// The store's clock is the database's.
func TestClock(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	before := value[time.Time](t, conn, "SELECT clock_timestamp()")
	now := store.Now()
	after := value[time.Time](t, conn, "SELECT clock_timestamp()")
	if now.Before(before.Add(-time.Minute)) || now.After(after.Add(time.Minute)) {
		t.Errorf("Now() = %v, want what the database says, %v to %v", now, before, after)
	}
	store.SetClock(before.Add(-time.Hour))
	mustAppend(t, store, draft("s", "wakes who asks for the time"))
	eventually(t, "the clock is set right", func() bool { return store.Now().After(before.Add(-time.Minute)) })
}
