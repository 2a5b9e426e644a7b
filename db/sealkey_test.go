package db_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// A key that is lost is not made anew where something was signed. It can be put back, or the log goes on under a new
// name, with an administrator's word.
func TestSealLostKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		lose func(s *sealed, t *testing.T)
		want string // in the problem: which key
	}{
		{"the database knows it", func(s *sealed, t *testing.T) {
			if err := os.Remove(s.config().Checkpoint); err != nil {
				t.Fatal(err)
			}
		}, "the key example.org/log+"},
		{"the file knows it", func(s *sealed, t *testing.T) {
			s.url = dbtest.New(t)
			s.admin = superuser(t, s.url)
		}, "the key of the log example.org/log is missing"},
	} {
		for _, back := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				_, url := open(t)
				s := newSealed(t, url)
				store, sealer, stop := s.start(t, s.config())
				s.fill(t, store, sealer, "a")
				stop()
				old := sealer.State()
				tt.lose(s, t)
				key := s.config().Key
				if err := os.Rename(key, key+".away"); err != nil {
					t.Fatal(err)
				}
				store, sealer, _ = s.start(t, s.config())
				mustAppend(t, store, draft("b", "1"))
				if state := s.untilCondition(t, sealer, db.Failing); !contains(state.Problem, tt.want, key, "LOG_KEY", "acceptTree") || state.Origin != "example.org/log" {
					t.Errorf("state = %+v, want which key is missing, and what to do", state)
				}
				if _, err := os.Stat(key); err == nil {
					t.Error("another key was made")
				}
				if _, err := store.VerifyLog(t.Context(), nil); err != nil {
					t.Errorf("VerifyLog() = %v", err)
				}
				if back {
					if err := os.Rename(key+".away", key); err != nil {
						t.Fatal(err)
					}
					s.until(t, "the key is used", func() bool {
						state := sealer.State()
						return state.PublicKey == old.PublicKey && !contains(state.Problem, "missing")
					})
					return
				}
				state, err := sealer.Accept(t.Context(), "the disk is gone")
				if err != nil || state.Condition != db.Sealing || state.Origin != "example.org/log/2" {
					t.Fatalf("Accept() = %+v, %v", state, err)
				}
				s.untilSealed(t, sealer)
				if _, err := sealer.Accept(t.Context(), "again"); fault.CodeOf(err) != fault.Conflict {
					t.Errorf("Accept() of what is sealed = %v, want CONFLICT", err)
				}
			})
		}
	}
}

// A key in the database that this server does not have is refused if the server's own file shows that it signed this
// log; that the tree does not extend the file is said first.
func TestSealForeignKey(t *testing.T) {
	t.Parallel()
	foreign, err := sealfile.LoadKey(filepath.Join(t.TempDir(), "key"), "example.org/foreign")
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO seal.logs (origin, public_key) VALUES ('example.org/foreign', $1)"
	tests := []struct {
		name, sql string
		restore   bool
		want      string
	}{
		{"a row put in", insert, false, "says that the log is signed with the key " + foreign.Public},
		{"a row altered", "UPDATE seal.logs SET public_key = $1", false, "says that the log is signed with the key " + foreign.Public},
		{"a row put in, and rolled back", insert, true, "the tree has 10 messages with the root"},
	}
	for _, tt := range tests {
		for _, running := range []bool{true, false} {
			if running && tt.restore {
				continue // it would be refused before the row is there
			}
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				_, url := open(t)
				s := newSealed(t, url)
				store, sealer, stop := s.start(t, s.config())
				s.fill(t, store, sealer, "a")
				s.remember(t)
				s.fill(t, store, sealer, "b")
				old := sealer.State()
				if !running {
					stop()
				}
				if tt.restore {
					s.restore(t)
				}
				s.tamper(t, "logs", tt.sql, foreign.Public)
				if !running {
					store, sealer, _ = s.start(t, s.config())
				}
				s.until(t, "it is refused for that", func() bool {
					state := sealer.State()
					return state.Condition == db.Refused && contains(state.Problem, tt.want)
				})
				report, err := store.VerifyLog(t.Context(), nil)
				if err != nil || report.Valid {
					t.Errorf("VerifyLog() = %+v, %v, want a break", report, err)
				}
				s.accepts(t, sealer, old)
				mustAppend(t, store, draft("later", "1"))
				s.untilSealed(t, sealer)
			})
		}
	}
}

// That sealing fails shows at /readyz once it has lasted, and no longer than that.
func TestSealFailingIsNotReady(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	var clock atomic.Int64
	store, sealer, _ := s.start(t, s.config().WithClock(func() time.Time { return time.Unix(1e9, clock.Load()) }))
	s.fill(t, store, sealer, "a")
	lock := s.config().Checkpoint + ".lock"
	if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, draft("s", "b"))
	state := s.untilCondition(t, sealer, db.Failing)
	for _, tt := range []struct {
		after time.Duration
		ready bool
	}{{0, true}, {5*time.Second - 1, true}, {5 * time.Second, false}, {time.Hour, false}} {
		clock.Store(int64(tt.after))
		if err := sealer.Ready(); (err == nil) != tt.ready || err != nil && !contains(err.Error(), state.Problem) {
			t.Errorf("Ready() after %v = %v, want ready %t or the reason", tt.after, err, tt.ready)
		}
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	s.untilSealed(t, sealer)
	if err := sealer.Ready(); err != nil {
		t.Errorf("Ready() afterwards = %v", err)
	}
}

// Of two servers of one data directory that are given the word at once, one goes on, the other with it, and no key is
// lost, time and again.
func TestAcceptedAtOnce(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, first, _ := s.start(t, s.config())
	_, second, _ := s.start(t, s.config())
	for round := range 4 {
		mustAppend(t, store, draft("s", "a"))
		s.untilSealed(t, first)
		s.remember(t)
		mustAppend(t, store, draft("s", "b"))
		s.untilSealed(t, first)
		s.restore(t)
		mustExec(t, s.admin, "SELECT setval(pg_get_serial_sequence('seal.logs', 'id'), $1)", 200+round)
		s.untilCondition(t, first, db.Refused)
		s.untilCondition(t, second, db.Refused)
		answers := make(chan error, 2)
		for _, sealer := range []*db.Sealer{first, second} {
			go func() { _, err := sealer.Accept(t.Context(), "at once"); answers <- err }()
		}
		one, other := <-answers, <-answers
		if (one == nil) == (other == nil) || fault.CodeOf(errors.Join(one, other)) != fault.Conflict {
			t.Errorf("Accept() at once = %v and %v, want CONFLICT for one of them", one, other)
		}
		public := value[string](t, s.admin, "SELECT public_key FROM seal.logs ORDER BY id DESC LIMIT 1")
		s.until(t, "both go on", func() bool {
			a, b := first.State(), second.State()
			return a.Condition == db.Sealing && b.Condition == db.Sealing && a.PublicKey == public && b.PublicKey == public
		})
		if key, err := sealfile.LoadKey(s.config().Key, ""); err != nil || key.Public != public {
			t.Errorf("in the file is the key %s, %v, and the log has %s", key.Public, err, public)
		}
		s.untilSealed(t, first)
	}
	if n := value[int64](t, s.admin, "SELECT count(*) FROM seal.logs"); n != 5 {
		t.Errorf("the log has %d names, want 5", n)
	}
}
