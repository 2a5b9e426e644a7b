package db_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// Where somebody else holds the lock of the sequencer and seals nothing, who waits for it says so.
func TestSealingThatStops(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, stop := s.start(t, s.config())
	s.fill(t, store, sealer, "a")
	stop()
	holder := superuser(t, url)
	mustExec(t, holder, fmt.Sprintf("SELECT pg_advisory_lock(%d)", db.SealLock)) // once the sealer's session has ended
	store, sealer, _ = s.start(t, s.config())
	if err := sealer.Ready(); err != nil {
		t.Errorf("Ready() = %v before anything waits", err)
	}
	mustAppend(t, store, draft("b", "1"))
	s.until(t, "it says so", func() bool { return sealer.Ready() != nil })
	if state := sealer.State(); state.Leading || !contains(state.Problem, "messages have waited to be sealed") || !contains(sealer.Ready().Error(), state.Problem) {
		t.Errorf("state = %+v, %v", state, sealer.Ready())
	}
	mustExec(t, holder, "SELECT pg_advisory_unlock_all()")
	s.untilSealed(t, sealer)
	s.until(t, "all is well", func() bool { return sealer.Ready() == nil && sealer.State().Problem == "" })
}

// Messages that a superuser keeps from being announced are never in the tree, and nothing waits: that they are missing is
// said while the server runs.
func TestMessagesThatAreNotAnnounced(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, _ := s.start(t, s.config())
	s.fill(t, store, sealer, "a")
	mustExec(t, s.admin, "ALTER TABLE log.messages DISABLE TRIGGER follow")
	mustAppend(t, store, draft("b", "1"))
	s.until(t, "it says so", func() bool { return sealer.Ready() != nil })
	if problem := sealer.State().Problem; !contains(problem, "neither in the tree nor wait for it") {
		t.Errorf("problem = %q", problem)
	}
}

// The file is not written anew while the server runs: that it is gone, or older than what the server published, is said.
func TestTheFileGoesBack(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{true, false} {
		t.Run(fmt.Sprint(gone), func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			config := s.config()
			store, sealer, _ := s.start(t, config)
			s.fill(t, store, sealer, "a")
			old, err := os.ReadFile(config.Checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			s.fill(t, store, sealer, "b")
			now, err := os.ReadFile(config.Checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			want := "has gone back from 20 messages to 10"
			if gone {
				want, err = "is gone while this server runs", os.Remove(config.Checkpoint)
			} else {
				err = sealfile.Replace(config.Checkpoint, string(old))
			}
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, store, draft("c", "1"))
			s.until(t, "it is said", func() bool { return contains(sealer.State().Problem, want) })
			s.until(t, "the server is not ready", func() bool { return sealer.Ready() != nil })
			if report, err := store.VerifyLog(t.Context(), nil); err != nil || !named(report.Breaks, want) {
				t.Errorf("VerifyLog() = %s, %v, want %q", words(report.Breaks), err, want)
			}
			if text, err := os.ReadFile(config.Checkpoint); gone && err == nil || !gone && string(text) != string(old) {
				t.Errorf("the file is %q, want that nobody wrote it", text)
			}
			if n := value[int64](t, s.admin, "SELECT max(size) FROM seal.checkpoints"); n != 20 {
				t.Errorf("%d messages are signed, want 20", n)
			}
			if err := sealfile.Replace(config.Checkpoint, string(now)); err != nil {
				t.Fatal(err)
			}
			s.untilSealed(t, sealer)
		})
	}
}

// A database that is rolled back together with the file is not signed a second time by the server that runs.
func TestNothingIsSignedTwice(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	config := s.config()
	store, sealer, _ := s.start(t, config)
	s.fill(t, store, sealer, "a")
	s.remember(t)
	s.fill(t, store, sealer, "b")
	if err := os.Remove(config.Checkpoint); err != nil {
		t.Fatal(err)
	}
	s.restore(t)
	mustAppend(t, store, draft("c", "1"))
	state := s.untilCondition(t, sealer, db.Refused)
	if !contains(state.Problem, "the tree has 10 messages", "what this server has signed since it was started has 20") {
		t.Errorf("problem = %q", state.Problem)
	}
	if n := value[int64](t, s.admin, "SELECT max(size) FROM seal.checkpoints"); n != 10 {
		t.Errorf("%d messages are signed, want the 10 of the database", n)
	}
}
