package db_test

import (
	"strings"

	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// Two servers of one database, under load, whose connections that seal are cut again and again: one seals at a time,
// the other follows, and nothing is lost or signed twice.
func TestTwoSealers(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	one, other := newSealed(t, url), newSealed(t, url)
	// Who holds the lock is alone: no row that it writes was there already.
	alone := func(name string, do func() error) error {
		err := do()
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "23505" {
			t.Errorf("two sealers were in each other's way at %s: %v", name, err)
		}
		return err
	}
	config := other.config()
	config.Key = one.config().Key // the same key, and a data directory of its own
	_, first, _ := one.start(t, one.config().WithStep(alone))
	_, second, _ := other.start(t, config.WithStep(alone))

	appended, stop := one.load(t, 8)
	for range 25 {
		before := appended.Load()
		one.until(t, "messages are appended and one server seals", func() bool {
			return appended.Load() > before+20 && first.State().Leading != second.State().Leading
		})
		mustExec(t, one.admin, `SELECT pg_terminate_backend(pid) FROM pg_locks
			WHERE locktype = 'advisory' AND ((classid::bigint << 32) | objid::bigint) = x'636d7365616c'::bigint
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	}
	stop()
	one.untilSealed(t, first)
	one.until(t, "the other has followed", func() bool {
		return second.State().Outside.Head == first.State().Outside.Head && second.State().Condition == db.Sealing
	})
	other.check(t, first.Policy())
	for _, s := range []*sealed{one, other} {
		if text, err := os.ReadFile(s.config().Checkpoint); err != nil || string(text) != first.State().Outside.Text {
			t.Errorf("the file has %q, %v, want the newest checkpoint", text, err)
		}
	}
	if n := value[int64](t, one.admin, "SELECT count(*) FROM log.messages"); n != appended.Load() {
		t.Errorf("%d messages are in the log, and %d were acknowledged", n, appended.Load())
	}
	if n := value[int64](t, one.admin, "SELECT count(*) FROM seal.logs"); n != 1 {
		t.Errorf("the log has %d names, want 1", n)
	}
}

// load appends with a store of its own, until the returned function is called, and counts what was acknowledged.
func (s *sealed) load(t *testing.T, writers int) (*atomic.Int64, func()) {
	t.Helper()
	store := openURL(t, s.url)
	ctx, cancel := context.WithCancel(t.Context())
	var appended atomic.Int64
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				written, err := store.Append(context.WithoutCancel(ctx), []chain.Draft{
					draft("hot", fmt.Sprint(w, i)), draft(fmt.Sprint(w), fmt.Sprint(i)),
				})
				if fault.CodeOf(err) == fault.Unavailable && strings.Contains(err.Error(), "nothing was written") {
					continue // the machine is busy: a client tries again
				}
				if err != nil {
					t.Errorf("Append() = %v", err)
					return
				}
				appended.Add(int64(len(written)))
			}
		})
	}
	return &appended, func() { cancel(); wait.Wait() }
}

// Transactions that stay open while rounds go on, and commit in any order, lose nothing, and no message is sealed
// before its predecessor.
func TestSealDelayedCommits(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, _ := s.start(t, s.config())
	conns := make([]*pgx.Conn, 4)
	for i := range conns {
		conns[i] = superuser(t, url)
	}
	insert := func(tx pgx.Tx, session string) {
		if _, err := tx.Exec(t.Context(), "INSERT INTO log.messages (session_hash, owner_id, content) VALUES ($1, $2, 'x')",
			hashOf("session:%s", session), hashOf("o")); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 6 {
		txs := make([]pgx.Tx, len(conns))
		for i, conn := range conns {
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				insert(tx, fmt.Sprint("delayed ", i))
			}
			txs[i] = tx
		}
		for i := range txs {
			// Messages of higher ids are sealed while those of lower ids are not committed yet.
			tx := txs[(i*3+round)%len(txs)]
			written := mustAppend(t, store, draft("prompt", fmt.Sprint(round, i)))
			s.until(t, "what was committed is sealed", func() bool {
				found, err := store.Sealed(t.Context(), []db.Place{{Session: written[0].SessionHash, Sequence: written[0].Sequence}})
				if err != nil {
					t.Fatal(err)
				}
				return found[0].Covered
			})
			end := tx.Commit
			if i == 2 {
				end = tx.Rollback // its ids are nobody's
			}
			if err := end(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.check(t, sealer.Policy())
		}
	}
	s.untilSealed(t, sealer)
	s.proves(t, store, sealer.Policy(), checkChains(t, store))
}

// A statement that writes more than a round takes is sealed over several rounds, in order.
func TestSealLargeStatement(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	fillLog(t, s.admin, 2*db.SealBatch+1234)
	_, sealer, _ := s.start(t, s.config())
	s.untilSealed(t, sealer)
	if n := value[int64](t, s.admin, "SELECT count(*) FROM seal.trees"); n != 3 {
		t.Errorf("it took %d rounds, want 3", n)
	}
}

// A key of a server's own is not the log's: it serves, and says what to set.
func TestSealWithAnotherKey(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	one, other := newSealed(t, url), newSealed(t, url)
	store, first, stop := one.start(t, one.config())
	mustAppend(t, store, draft("s", "x"))
	one.untilSealed(t, first)
	stop()
	_, stranger, _ := other.start(t, other.config())
	one.until(t, "it fails", func() bool { return stranger.State().Condition == db.Failing })
	if problem := stranger.State().Problem; !contains(problem, "set LOG_KEY", first.State().PublicKey) {
		t.Errorf("problem = %q, want what to set", problem)
	}
	if _, err := sealfile.LoadKey(other.config().Key, ""); err != nil {
		t.Error(err)
	}
	store, first, _ = one.start(t, one.config()) // while the stranger is there
	mustAppend(t, store, draft("s", "y"))
	one.untilSealed(t, first)
}
