package db_test

import (
	"testing"
	"testing/synctest"

	"github.com/tzzr/context-manager/db"
)

// While a group is written, the next one waits until it has as many calls, or that is written, but not for long.
func TestGroupsAreGathered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		writing, come, want int
		ends                bool
	}{
		{"as many come", 4, 3, 4, false},
		{"one is as many", 1, 9, 1, false},
		{"fewer come", 4, 1, 2, false},
		{"nothing is being written any more", 4, 3, 1, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := db.Gathered(test.writing, test.come, test.ends); got != test.want {
				t.Errorf("%s: %d are gathered, want %d", test.name, got, test.want)
			}
		})
	}
}

// The turn is passed on once a group is sent, and before its rows are known to be written; the next one is told how large it is.
func TestTurnIsPassedWhileWriting(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	for range 2 { // the second by what is remembered
		passed := 0
		err := store.AppendPassing(t.Context(), draft("s", "one"), func(writing int) {
			if passed++; writing != 1 {
				t.Errorf("passed on with a group of %d being written, want one", writing)
			}
		})
		if err != nil || passed != 1 {
			t.Errorf("appended: %v, passed on %d times, want once", err, passed)
		}
	}
	// It is passed on even while the group waits for a session that somebody else holds.
	conn := superuser(t, url)
	mustExec(t, conn, "SELECT pg_advisory_lock(log.session_lock($1))", hashOf("session:s").String())
	passed, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- store.AppendPassing(t.Context(), draft("s", "held"), func(int) { close(passed) }) }()
	<-passed
	if got := checkChains(t, store); len(got) != 2 {
		t.Errorf("the log has %d messages, want two", len(got))
	}
	mustExec(t, conn, "SELECT pg_advisory_unlock(log.session_lock($1))", hashOf("session:s").String())
	if err := <-done; err != nil {
		t.Errorf("appended once the session was free: %v", err)
	}
	if got := checkChains(t, store); len(got) != 3 {
		t.Errorf("the log has %d messages, want three", len(got))
	}
}
